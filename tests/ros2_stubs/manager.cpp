// Stands in for the controller manager and the hardware: drives an exported controller along a logged run.
// usage: manager RUN.csv COMMANDS MEASURED REFERENCES RATE [NAME=VALUE …]
//   NAME=VALUE   a parameter (a number), or what happens: topic=1 (references as messages), nan=K (no number at sample K, length=L),
//                chain=1 (references by the interfaces of the chainable controller, their names printed; chain=2: not chained),
//                late=K (periods twice as long from sample K on), silent=K (no messages from sample K on), busy=K
// Prints "configure W", "activate", then for each sample "K result command … " and "deactivate command …".
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>

#include <controller_interface/chainable_controller_interface.hpp>
#include <std_msgs/msg/float64_multi_array.hpp>

template <class Base> Base *exported_controller();

int main(int count, char **words)
{
  using namespace controller_interface;
  const std::size_t commands = std::atoi(words[2]), measured = std::atoi(words[3]), references = std::atoi(words[4]);
  std::map<std::string, double> asked;
  for (int i = 6; i < count; ++i) {
    const std::string word = words[i];
    const auto at = word.find('=');
    asked[word.substr(0, at)] = std::atof(word.c_str() + at + 1);
  }
  std::unique_ptr<ControllerInterfaceBase> law;
  ChainableControllerInterface *chainable = nullptr;
  if (asked["chain"])
    law.reset(chainable = exported_controller<ChainableControllerInterface>());
  else
    law.reset(exported_controller<ControllerInterface>());
  law->update_rate_ = std::atoi(words[5]);
  const double T = 1.0 / law->update_rate_;
  auto node = law->get_node();
  if (!asked["topic"] && asked["chain"] != 1) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < references; ++i) names.push_back("wanted/" + std::to_string(i));
    node->parameters["reference_interfaces"].value = names; // as a manager's file gives it, before on_init
  }
  if (law->on_init() != CallbackReturn::SUCCESS) return std::printf("init failed\n"), 1;
  for (const auto &[name, value] : asked) {
    if (!node->has_parameter(name)) continue;
    auto &kept = node->parameters[name].value;
    if (std::holds_alternative<bool>(kept))
      kept = value != 0.0;
    else if (std::holds_alternative<std::int64_t>(kept))
      kept = static_cast<std::int64_t>(value);
    else if (std::holds_alternative<double>(kept))
      kept = value;
    else
      kept = std::vector<double>(commands, value);
  }
  const bool well = law->on_configure({}) == CallbackReturn::SUCCESS;
  std::printf("configure %s\n", well ? "well" : "failed");
  if (!well) return 0;
  std::vector<hardware_interface::CommandInterface> before;
  if (chainable) {
    before = chainable->export_reference_interfaces();
    for (const auto &interface : before) std::printf("exports %s\n", interface.get_name().c_str());
    std::printf("chained %d\n", chainable->set_chained_mode(true));
  }
  const std::size_t states = law->state_interface_configuration().names.size();
  std::vector<double> in(states, std::numeric_limits<double>::quiet_NaN()), out(commands, 1e9);
  for (auto &v : in) law->state_interfaces_.emplace_back(&v);
  for (auto &v : out) law->command_interfaces_.emplace_back(&v);
  const auto told = [&] {
    for (double v : out) std::printf(" %a", v);
    std::printf("\n");
  };
  law->on_activate({});
  std::printf("activate");
  told();
  const auto within = [&](const char *what, long k) {
    return asked.count(what) && k >= asked[what] && k < asked[what] + (asked.count("length") ? asked["length"] : 1e9);
  };
  std::ifstream run(words[1]);
  std::vector<double> row(1 + measured + references + commands);
  std::string number;
  for (long k = 0; run >> number; ++k) {
    row[0] = std::strtod(number.c_str(), nullptr);
    for (std::size_t i = 1; i < row.size(); ++i) {
      run >> number;
      row[i] = std::strtod(number.c_str(), nullptr);
    }
    for (std::size_t i = 0; i < states; ++i) in[i] = row[1 + i];
    if (within("nan", k)) in[0] = std::numeric_limits<double>::quiet_NaN();
    if (within("busy", k)) in[0] = hardware_interface::LoanedInterface::BUSY;
    if (chainable && chainable->is_in_chained_mode() && !within("silent", k))
      for (std::size_t i = 0; i < references; ++i) before[i].set_value(row[1 + measured + i]);
    if (asked["topic"] && !within("silent", k)) {
      auto message = std::make_shared<std_msgs::msg::Float64MultiArray>();
      message->data.assign(row.begin() + 1 + measured, row.begin() + 1 + measured + references);
      node->topic(message);
    }
    const bool late = within("late", k);
    const auto result = law->update(rclcpp::Time(k * T), rclcpp::Duration(late ? 2 * T : T));
    std::printf("%ld %s", k, result == return_type::OK ? "ok" : "error");
    told();
    if (result != return_type::OK) break;
  }
  law->on_deactivate({});
  std::printf("deactivate");
  told();
}
