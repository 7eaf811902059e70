#pragma once
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <rcl_interfaces/msg/parameter_descriptor.hpp>

#define RCLCPP_ERROR(logger, ...) rclcpp::say(logger, "error", __VA_ARGS__)
#define RCLCPP_WARN(logger, ...) rclcpp::say(logger, "warning", __VA_ARGS__)

namespace rclcpp {

struct Logger {};
template <class... Given> void say(Logger, const char *how, const char *format, Given... given)
{
  std::printf("%s: ", how);
  std::printf(format, given...);
  std::printf("\n");
}
inline void say(Logger, const char *how, const char *text) { std::printf("%s: %s\n", how, text); }

class Time {
public:
  explicit Time(double s) : s_(s) {}
  double seconds() const { return s_; }

private:
  double s_;
};
using Duration = Time;
struct SystemDefaultsQoS {};
template <class Message> struct Subscription {
  using SharedPtr = std::shared_ptr<Subscription>;
};

class Parameter {
public:
  using Value = std::variant<bool, std::int64_t, double, std::vector<double>, std::vector<std::string>>;
  Value value;
  template <class T> T as() const
  {
    if (!std::holds_alternative<T>(value)) throw std::runtime_error("a parameter is of another type");
    return std::get<T>(value);
  }
  bool as_bool() const { return as<bool>(); }
  std::int64_t as_int() const { return as<std::int64_t>(); }
  double as_double() const { return as<double>(); }
  std::vector<double> as_double_array() const { return as<std::vector<double>>(); }
  std::vector<std::string> as_string_array() const { return as<std::vector<std::string>>(); }
};

class Node {
public:
  const char *get_name() const { return "law"; }
  std::map<std::string, Parameter> parameters;
  std::map<std::string, rcl_interfaces::msg::ParameterDescriptor> descriptors;
  std::function<void(std::shared_ptr<void>)> topic;

  Logger get_logger() const { return {}; }
  bool has_parameter(const std::string &name) const { return parameters.count(name); }
  template <class T>
  T declare_parameter(const std::string &name, const T &value, const rcl_interfaces::msg::ParameterDescriptor &told)
  {
    if (has_parameter(name)) throw std::runtime_error(name + " is declared already");
    if constexpr (std::is_same_v<T, int>)
      parameters[name].value = std::int64_t{value};
    else
      parameters[name].value = value;
    if constexpr (std::is_same_v<T, double>)
      for (const auto &range : told.floating_point_range)
        if (value < range.from_value || value > range.to_value) throw std::runtime_error(name + " is out of range");
    descriptors[name] = told;
    return value;
  }
  Parameter get_parameter(const std::string &name) const
  {
    if (!has_parameter(name)) throw std::runtime_error(name + " is not declared");
    return parameters.at(name);
  }
  template <class Message, class Callback>
  typename Subscription<Message>::SharedPtr create_subscription(const std::string &, SystemDefaultsQoS, Callback callback)
  {
    topic = [callback](std::shared_ptr<void> message) { callback(std::static_pointer_cast<Message>(message)); };
    return std::make_shared<Subscription<Message>>();
  }
};

} // namespace rclcpp

namespace rclcpp_lifecycle {
struct State {};
using LifecycleNode = rclcpp::Node;
} // namespace rclcpp_lifecycle
