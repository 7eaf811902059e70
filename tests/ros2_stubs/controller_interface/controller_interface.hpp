#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rclcpp/rclcpp.hpp>

namespace hardware_interface {

// A number that the hardware and a controller share. Older ones have get_value, newer ones get_optional.
class LoanedInterface {
public:
  explicit LoanedInterface(double *at) : at_(at) {}
#ifdef OLDER
  double get_value() const { return *at_; }
  void set_value(double value) { *at_ = value; }
#else
  template <class T = double> std::optional<T> get_optional(unsigned = 10) const
  {
    if (*at_ == BUSY) return std::nullopt;
    return *at_;
  }
  template <class T> [[nodiscard]] bool set_value(const T &value, unsigned = 10)
  {
    *at_ = value;
    return true;
  }
#endif
  static constexpr double BUSY = -77e77;

private:
  double *at_;
};
using LoanedStateInterface = LoanedInterface;
using LoanedCommandInterface = LoanedInterface;

} // namespace hardware_interface

namespace controller_interface {

enum class return_type { OK, ERROR };
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration {
  interface_configuration_type type;
  std::vector<std::string> names;
};

class ControllerInterfaceBase {
public:
  virtual ~ControllerInterfaceBase() = default;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) = 0;
  virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;

  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() const { return node_; }
  unsigned get_update_rate() const { return update_rate_; }

  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ = std::make_shared<rclcpp_lifecycle::LifecycleNode>();
  unsigned update_rate_ = 0;
  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;
};
class ControllerInterface : public ControllerInterfaceBase {};

} // namespace controller_interface
