/* The bench as an FMU of FMI 2: model exchange and co-simulation. */
#include "bench.h"

#define API __attribute__((visibility("default")))
typedef unsigned Ref;
typedef struct {
  int needed, ends, nominals, values, defined;
  double next;
} Event;

#define EACH(TYPE, NAME)                                                                       \
  API int fmi2Get##NAME(Bench *b, const Ref *at, size_t n, TYPE *to) {                         \
    refresh(b);                                                                                \
    for (size_t i = 0; i < n; i++) to[i] = (TYPE)b->r[at[i]];                                  \
    return OK;                                                                                 \
  }                                                                                            \
  API int fmi2Set##NAME(Bench *b, const Ref *at, size_t n, const TYPE *from) {                 \
    for (size_t i = 0; i < n; i++) b->r[at[i]] = (double)from[i];                              \
    return OK;                                                                                 \
  }
EACH(double, Real)
EACH(int, Integer)
EACH(int, Boolean)

API const char *fmi2GetTypesPlatform(void) { return "default"; }
API const char *fmi2GetVersion(void) { return "2.0"; }
API int fmi2SetDebugLogging(Bench *b, int on, size_t n, const char **c) { return OK; }
API Bench *fmi2Instantiate(const char *name, int kind, const char *guid, const char *at,
                           const void *calls, int visible, int logging) {
  return strcmp(guid, "{bench}") ? NULL : fresh();
}
API void fmi2FreeInstance(Bench *b) { free(b); }
API int fmi2SetupExperiment(Bench *b, int a, double tol, double t, int c, double e) {
  b->r[TIME] = t;
  return OK;
}
API int fmi2EnterInitializationMode(Bench *b) { return OK; }
API int fmi2ExitInitializationMode(Bench *b) { return OK; }
API int fmi2Terminate(Bench *b) { return OK; }
API int fmi2Reset(Bench *b) { return ERROR; }
API int fmi2GetString(Bench *b, const Ref *at, size_t n, const char **to) { return ERROR; }
API int fmi2SetString(Bench *b, const Ref *at, size_t n, const char **from) { return ERROR; }
API int fmi2GetFMUstate(Bench *b, void **s) { return ERROR; }
API int fmi2SetFMUstate(Bench *b, void *s) { return ERROR; }
API int fmi2FreeFMUstate(Bench *b, void **s) { return ERROR; }
API int fmi2SerializedFMUstateSize(Bench *b, void *s, size_t *n) { return ERROR; }
API int fmi2SerializeFMUstate(Bench *b, void *s, char *to, size_t n) { return ERROR; }
API int fmi2DeSerializeFMUstate(Bench *b, const char *from, size_t n, void **s) { return ERROR; }
API int fmi2GetDirectionalDerivative(Bench *b, const Ref *of, size_t n, const Ref *by, size_t m,
                                     const double *seed, double *to) {
  for (size_t i = 0; i < n; i++) {
    to[i] = 0.0;
    for (size_t j = 0; j < m; j++) to[i] += slope(b, of[i], by[j]) * seed[j];
  }
  return OK;
}

/* Model exchange. */
API int fmi2EnterEventMode(Bench *b) { return OK; }
API int fmi2NewDiscreteStates(Bench *b, Event *e) {
  memset(e, 0, sizeof *e);
  e->values = bounce(b);
  return OK;
}
API int fmi2EnterContinuousTimeMode(Bench *b) { return OK; }
API int fmi2CompletedIntegratorStep(Bench *b, int c, int *event, int *ends) {
  *event = *ends = 0;
  return OK;
}
API int fmi2SetTime(Bench *b, double t) {
  b->r[TIME] = t;
  return OK;
}
API int fmi2SetContinuousStates(Bench *b, const double *x, size_t n) {
  b->r[Q] = x[0];
  b->r[V] = x[1];
  return OK;
}
API int fmi2GetDerivatives(Bench *b, double *to, size_t n) {
  refresh(b);
  to[0] = b->r[DQ];
  to[1] = b->r[DV];
  return moody(b);
}
API int fmi2GetEventIndicators(Bench *b, double *to, size_t n) {
  if (n) to[0] = b->r[STOP] - b->r[Q];
  return OK;
}
API int fmi2GetContinuousStates(Bench *b, double *to, size_t n) {
  to[0] = b->r[Q];
  to[1] = b->r[V];
  return OK;
}
API int fmi2GetNominalsOfContinuousStates(Bench *b, double *to, size_t n) {
  to[0] = to[1] = 1.0;
  return OK;
}

/* Co-simulation. */
API int fmi2SetRealInputDerivatives(Bench *b, const Ref *a, size_t n, const int *o,
                                    const double *v) {
  return ERROR;
}
API int fmi2GetRealOutputDerivatives(Bench *b, const Ref *a, size_t n, const int *o, double *v) {
  return ERROR;
}
API int fmi2DoStep(Bench *b, double t, double h, int c) {
  march(b, t, h);
  return moody(b);
}
API int fmi2CancelStep(Bench *b) { return ERROR; }
API int fmi2GetStatus(Bench *b, int k, int *to) { return ERROR; }
API int fmi2GetRealStatus(Bench *b, int k, double *to) { return ERROR; }
API int fmi2GetIntegerStatus(Bench *b, int k, int *to) { return ERROR; }
API int fmi2GetBooleanStatus(Bench *b, int k, int *to) { return ERROR; }
API int fmi2GetStringStatus(Bench *b, int k, const char **to) { return ERROR; }
