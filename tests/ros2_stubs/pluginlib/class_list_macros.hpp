#pragma once
template <class Base> Base *exported_controller();
#define PLUGINLIB_EXPORT_CLASS(derived, base)                                                                                      \
  template <> base *exported_controller<base>() { return new derived(); }
