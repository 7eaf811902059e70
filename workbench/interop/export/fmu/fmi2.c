/* FMI 2.0, co-simulation, around instance.h. The types are those of the standard's headers, which may be included before. */
#include <stddef.h>

#include "instance.h"

#ifndef fmi2FunctionTypes_h
typedef void *fmi2Component, *fmi2ComponentEnvironment, *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer, fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment, fmi2String name, fmi2Status, fmi2String category, fmi2String message, ...);
typedef struct {
  fmi2CallbackLogger logger;
  void *(*allocateMemory)(size_t, size_t);
  void (*freeMemory)(void *);
  void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
  fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;
#endif

#ifdef FMI2_FUNCTION_PREFIX
#define F(name) JOINED(FMI2_FUNCTION_PREFIX, name)
#else
#define F(name) name
#endif
#define PUBLIC(name) SEEN fmi2Status F(name)
#define UNUSED(word) (void)(word)

static fmi2Status say(instance *it)
{
  fmi2CallbackLogger logger = (fmi2CallbackLogger)it->logger;
  if (logger) logger(it->environment, it->name, fmi2Error, "logStatusError", "%s", it->said);
  return fmi2Error;
}

static fmi2Status lacks(fmi2Component instance_, const char *what)
{
  instance *it = instance_;
  sprintf(it->said, "%s is no function of this model", what);
  return say(it);
}

SEEN const char *F(fmi2GetTypesPlatform)(void) { return "default"; }
SEEN const char *F(fmi2GetVersion)(void) { return "2.0"; }

PUBLIC(fmi2SetDebugLogging)(fmi2Component it, fmi2Boolean on, size_t count, const fmi2String categories[])
{
  UNUSED(it), UNUSED(on), UNUSED(count), UNUSED(categories);
  return fmi2OK;
}

SEEN fmi2Component F(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
                                      const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
  instance *it = type == fmi2CoSimulation ? made(name, token) : 0;
  UNUSED(resources), UNUSED(visible), UNUSED(logging);
  if (it && functions) {
    it->environment = functions->componentEnvironment;
    it->logger = (void (*)(void))functions->logger;
  } else if (!it && functions && functions->logger) {
    functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatusError", "%s",
                      type == fmi2CoSimulation ? "the GUID is not that of this model" : "this model is for co-simulation");
  }
  return it;
}

SEEN void F(fmi2FreeInstance)(fmi2Component it) { free(it); }

PUBLIC(fmi2SetupExperiment)(fmi2Component it, fmi2Boolean with_tolerance, fmi2Real tolerance, fmi2Real start, fmi2Boolean with_stop,
                            fmi2Real stop)
{
  UNUSED(with_tolerance), UNUSED(tolerance), UNUSED(with_stop), UNUSED(stop);
  if (!enter(it, start)) return say(it);
  ((instance *)it)->n.mode = MADE;
  return fmi2OK;
}

PUBLIC(fmi2EnterInitializationMode)(fmi2Component it)
{
  ((instance *)it)->n.mode = INITIALISING;
  return fmi2OK;
}

PUBLIC(fmi2ExitInitializationMode)(fmi2Component it)
{
  begin_steps(it);
  return fmi2OK;
}

PUBLIC(fmi2Terminate)(fmi2Component it)
{
  ((instance *)it)->n.mode = ENDED;
  return fmi2OK;
}

PUBLIC(fmi2Reset)(fmi2Component it)
{
  restart(it);
  return fmi2OK;
}

PUBLIC(fmi2GetReal)(fmi2Component it, const fmi2ValueReference which[], size_t n, fmi2Real to[])
{
  return got(it, which, n, to) ? fmi2OK : say(it);
}

PUBLIC(fmi2SetReal)(fmi2Component it, const fmi2ValueReference which[], size_t n, const fmi2Real from[])
{
  return given(it, which, n, from) ? fmi2OK : say(it);
}

PUBLIC(fmi2DoStep)(fmi2Component it, fmi2Real t, fmi2Real length, fmi2Boolean no_return)
{
  UNUSED(no_return);
  return stepped(it, t, length) ? fmi2OK : say(it);
}

PUBLIC(fmi2GetFMUstate)(fmi2Component it, fmi2FMUstate *state)
{
  if (*state) memcpy(*state, &((instance *)it)->n, sizeof(numbers));
  else *state = kept(&((instance *)it)->n);
  return *state ? fmi2OK : fmi2Error;
}

PUBLIC(fmi2SetFMUstate)(fmi2Component it, fmi2FMUstate state)
{
  memcpy(&((instance *)it)->n, state, sizeof(numbers));
  return fmi2OK;
}

PUBLIC(fmi2FreeFMUstate)(fmi2Component it, fmi2FMUstate *state)
{
  UNUSED(it);
  free(*state);
  *state = 0;
  return fmi2OK;
}

PUBLIC(fmi2SerializedFMUstateSize)(fmi2Component it, fmi2FMUstate state, size_t *size)
{
  UNUSED(it), UNUSED(state);
  *size = sizeof(numbers);
  return fmi2OK;
}

PUBLIC(fmi2SerializeFMUstate)(fmi2Component it, fmi2FMUstate state, fmi2Byte to[], size_t size)
{
  if (size < sizeof(numbers)) return lacks(it, "serialising into so little room");
  memcpy(to, state, sizeof(numbers));
  return fmi2OK;
}

PUBLIC(fmi2DeSerializeFMUstate)(fmi2Component it, const fmi2Byte from[], size_t size, fmi2FMUstate *state)
{
  if (!own(it, from, size)) return lacks(it, "taking the state of another model");
  *state = kept((const numbers *)(const void *)from);
  return *state ? fmi2OK : fmi2Error;
}

PUBLIC(fmi2GetRealStatus)(fmi2Component it, const fmi2StatusKind kind, fmi2Real *value)
{
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = ((instance *)it)->n.values[0];
  return fmi2OK;
}

PUBLIC(fmi2GetBooleanStatus)(fmi2Component it, const fmi2StatusKind kind, fmi2Boolean *value)
{
  if (kind != fmi2Terminated) return fmi2Discard;
  *value = ((instance *)it)->n.mode == ENDED;
  return fmi2OK;
}

/* ---- what a model of doubles that steps at once does not have ---- */
#define NO_VALUES(type)                                                                                                        \
  PUBLIC(fmi2Get##type)(fmi2Component it, const fmi2ValueReference which[], size_t n, fmi2##type to[])                         \
  {                                                                                                                            \
    UNUSED(which), UNUSED(to);                                                                                                 \
    return n ? lacks(it, "getting " #type) : fmi2OK;                                                                           \
  }                                                                                                                            \
  PUBLIC(fmi2Set##type)(fmi2Component it, const fmi2ValueReference which[], size_t n, const fmi2##type from[])                 \
  {                                                                                                                            \
    UNUSED(which), UNUSED(from);                                                                                               \
    return n ? lacks(it, "setting " #type) : fmi2OK;                                                                           \
  }
NO_VALUES(Integer)
NO_VALUES(Boolean)
NO_VALUES(String)

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#define NO_STATUS(type)                                                                                                        \
  PUBLIC(fmi2Get##type##Status)(fmi2Component it, const fmi2StatusKind kind, fmi2##type *value) { return fmi2Discard; }
NO_STATUS(Integer)
NO_STATUS(String)
PUBLIC(fmi2GetStatus)(fmi2Component it, const fmi2StatusKind kind, fmi2Status *value) { return fmi2Discard; }
PUBLIC(fmi2CancelStep)(fmi2Component it) { return lacks(it, "fmi2CancelStep"); }
PUBLIC(fmi2GetDirectionalDerivative)(fmi2Component it, const fmi2ValueReference a[], size_t n, const fmi2ValueReference b[], size_t m,
                                     const fmi2Real c[], fmi2Real d[])
{
  return lacks(it, "fmi2GetDirectionalDerivative");
}
PUBLIC(fmi2SetRealInputDerivatives)(fmi2Component it, const fmi2ValueReference a[], size_t n, const fmi2Integer b[], const fmi2Real c[])
{
  return n ? lacks(it, "fmi2SetRealInputDerivatives") : fmi2OK;
}
PUBLIC(fmi2GetRealOutputDerivatives)(fmi2Component it, const fmi2ValueReference a[], size_t n, const fmi2Integer b[], fmi2Real c[])
{
  return n ? lacks(it, "fmi2GetRealOutputDerivatives") : fmi2OK;
}
