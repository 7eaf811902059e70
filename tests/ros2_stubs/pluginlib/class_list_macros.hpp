#pragma once
#define PLUGINLIB_EXPORT_CLASS(derived, base)                                                                                      \
  base *exported_controller() { return new derived(); }
