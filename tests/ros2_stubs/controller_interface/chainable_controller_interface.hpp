#pragma once
#include <controller_interface/controller_interface.hpp>

namespace hardware_interface {

// A number that a chainable controller exports, for another one to write.
class CommandInterface {
public:
  CommandInterface(const std::string &prefix, const std::string &name, double *at) : name_(prefix + "/" + name), at_(at) {}
  const std::string &get_name() const { return name_; }
  void set_value(double value) { *at_ = value; }

private:
  std::string name_;
  double *at_;
};

} // namespace hardware_interface

namespace controller_interface {

class ChainableControllerInterface : public ControllerInterfaceBase {
public:
  return_type update(const rclcpp::Time &time, const rclcpp::Duration &period) final
  {
    if (!chained_ && update_reference_from_subscribers(time, period) != return_type::OK) return return_type::ERROR;
    return update_and_write_commands(time, period);
  }
  std::vector<hardware_interface::CommandInterface> export_reference_interfaces() { return on_export_reference_interfaces(); }
  bool set_chained_mode(bool chained)
  {
    const bool well = on_set_chained_mode(chained);
    if (well) chained_ = chained;
    return well;
  }
  bool is_in_chained_mode() const { return chained_; }

protected:
  virtual std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() { return {}; }
  virtual bool on_set_chained_mode(bool) { return true; }
  virtual return_type update_reference_from_subscribers(const rclcpp::Time &time, const rclcpp::Duration &period) = 0;
  virtual return_type update_and_write_commands(const rclcpp::Time &time, const rclcpp::Duration &period) = 0;
  std::vector<double> reference_interfaces_;

private:
  bool chained_ = false;
};

} // namespace controller_interface
