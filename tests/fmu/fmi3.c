/* The bench as an FMU of FMI 3: model exchange and co-simulation. */
#include "bench.h"
#include <stdbool.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))
typedef unsigned Ref;

#define EACH(TYPE, NAME)                                                                       \
  API int fmi3Get##NAME(Bench *b, const Ref *at, size_t n, TYPE *to, size_t m) {               \
    refresh(b);                                                                                \
    for (size_t i = 0; i < n; i++) to[i] = (TYPE)b->r[at[i]];                                  \
    return OK;                                                                                 \
  }                                                                                            \
  API int fmi3Set##NAME(Bench *b, const Ref *at, size_t n, const TYPE *from, size_t m) {       \
    for (size_t i = 0; i < n; i++) b->r[at[i]] = (double)from[i];                              \
    return OK;                                                                                 \
  }
EACH(double, Float64)
EACH(float, Float32)
EACH(int8_t, Int8)
EACH(uint8_t, UInt8)
EACH(int16_t, Int16)
EACH(uint16_t, UInt16)
EACH(int32_t, Int32)
EACH(uint32_t, UInt32)
EACH(int64_t, Int64)
EACH(uint64_t, UInt64)
EACH(bool, Boolean)

#define NONE(NAME) API int fmi3##NAME(void) { return ERROR; }
NONE(GetString) NONE(SetString) NONE(GetBinary) NONE(SetBinary) NONE(GetClock) NONE(SetClock)
NONE(GetNumberOfVariableDependencies) NONE(GetVariableDependencies) NONE(GetFMUState)
NONE(SetFMUState) NONE(FreeFMUState) NONE(SerializedFMUStateSize) NONE(SerializeFMUState)
NONE(DeserializeFMUState) NONE(GetAdjointDerivative) NONE(EnterConfigurationMode)
NONE(ExitConfigurationMode) NONE(GetIntervalDecimal) NONE(GetIntervalFraction)
NONE(GetShiftDecimal) NONE(GetShiftFraction) NONE(SetIntervalDecimal) NONE(SetIntervalFraction)
NONE(SetShiftDecimal) NONE(SetShiftFraction) NONE(EvaluateDiscreteStates)
NONE(GetOutputDerivatives) NONE(ActivateModelPartition) NONE(Reset)
API void *fmi3InstantiateScheduledExecution(void) { return NULL; }

API const char *fmi3GetVersion(void) { return "3.0"; }
API int fmi3SetDebugLogging(Bench *b, bool on, size_t n, const char **c) { return OK; }
API Bench *fmi3InstantiateModelExchange(const char *name, const char *token, const char *at,
                                        bool visible, bool logging, void *of, void *log) {
  return strcmp(token, "{bench}") ? NULL : fresh();
}
API Bench *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *at,
                                       bool visible, bool logging, bool events, bool early,
                                       const Ref *v, size_t n, void *of, void *log, void *mid) {
  return strcmp(token, "{bench}") ? NULL : fresh();
}
API void fmi3FreeInstance(Bench *b) { free(b); }
API int fmi3EnterInitializationMode(Bench *b, bool a, double tol, double t, bool c, double e) {
  b->r[TIME] = t;
  return OK;
}
API int fmi3ExitInitializationMode(Bench *b) { return OK; }
API int fmi3EnterEventMode(Bench *b) { return OK; }
API int fmi3Terminate(Bench *b) { return OK; }
API int fmi3UpdateDiscreteStates(Bench *b, bool *needed, bool *ends, bool *nominals, bool *values,
                                 bool *defined, double *next) {
  *needed = *ends = *nominals = *defined = false;
  *values = bounce(b);
  return OK;
}
API int fmi3EnterContinuousTimeMode(Bench *b) { return OK; }
API int fmi3EnterStepMode(Bench *b) { return OK; }
API int fmi3CompletedIntegratorStep(Bench *b, bool c, bool *event, bool *ends) {
  *event = *ends = false;
  return OK;
}
API int fmi3SetTime(Bench *b, double t) {
  b->r[TIME] = t;
  return OK;
}
API int fmi3SetContinuousStates(Bench *b, const double *x, size_t n) {
  b->r[Q] = x[0];
  b->r[V] = x[1];
  return OK;
}
API int fmi3GetContinuousStates(Bench *b, double *to, size_t n) {
  to[0] = b->r[Q];
  to[1] = b->r[V];
  return OK;
}
API int fmi3GetContinuousStateDerivatives(Bench *b, double *to, size_t n) {
  refresh(b);
  to[0] = b->r[DQ];
  to[1] = b->r[DV];
  return moody(b);
}
API int fmi3GetEventIndicators(Bench *b, double *to, size_t n) {
  if (n) to[0] = b->r[STOP] - b->r[Q];
  return OK;
}
API int fmi3GetNominalsOfContinuousStates(Bench *b, double *to, size_t n) {
  to[0] = to[1] = 1.0;
  return OK;
}
API int fmi3GetNumberOfEventIndicators(Bench *b, size_t *to) {
  *to = b->r[STOP] < 1e9 ? 1 : 0;
  return OK;
}
API int fmi3GetNumberOfContinuousStates(Bench *b, size_t *to) {
  *to = 2;
  return OK;
}
API int fmi3GetDirectionalDerivative(Bench *b, const Ref *of, size_t n, const Ref *by, size_t m,
                                     const double *seed, size_t s, double *to, size_t k) {
  for (size_t i = 0; i < n; i++) {
    to[i] = 0.0;
    for (size_t j = 0; j < m; j++) to[i] += slope(b, of[i], by[j]) * seed[j];
  }
  return OK;
}
API int fmi3DoStep(Bench *b, double t, double h, bool c, bool *event, bool *ends, bool *early,
                   double *last) {
  march(b, t, h);
  *event = *ends = *early = false;
  *last = t + h;
  return moody(b);
}
