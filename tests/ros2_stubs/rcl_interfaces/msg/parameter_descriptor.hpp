// As much of ROS 2 as an exported controller uses, so that it can be compiled and run where there is no ROS 2.
#pragma once
#include <string>
#include <vector>
namespace rcl_interfaces::msg {
struct FloatingPointRange {
  double from_value = 0.0, to_value = 0.0, step = 0.0;
};
struct ParameterDescriptor {
  std::string description;
  std::vector<FloatingPointRange> floating_point_range;
};
} // namespace rcl_interfaces::msg
