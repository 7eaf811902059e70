"""Plants of other tools as Functional Mock-up Units (FMI 2 and 3): read with care, run in a process of their own.

An FMU is foreign code. It is opened only where the user says that it is trusted (`workbench.contract.trust`), unpacked within
limits (`archive`), described by its XML (`description`), wired by names (`wires`) and run by a process that can crash or hang alone
(`link`, `worker`). `plant.FMU` is the System. FMPy, the extra `fmi`, calls its functions.

Source: Modelica Association, Functional Mock-up Interface 2.0.4 and 3.0.1.
"""
