/* FMI 3.0, co-simulation, around instance.h. The types are those of the standard's headers, which may be included before. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instance.h"

#ifndef fmi3FunctionTypes_h
typedef void *fmi3Instance, *fmi3InstanceEnvironment, *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8, fmi3Byte;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean, fmi3Clock;
typedef const char *fmi3String;
typedef const fmi3Byte *fmi3Binary;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3DiscreteKind, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String category, fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean, fmi3Boolean,
                                               fmi3Boolean, fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3LockPreemptionCallback)();
typedef void (*fmi3UnlockPreemptionCallback)();
#endif

#ifdef FMI3_FUNCTION_PREFIX
#define F(name) JOINED(FMI3_FUNCTION_PREFIX, name)
#else
#define F(name) name
#endif
#define PUBLIC(name) SEEN fmi3Status F(name)
#define UNUSED(word) (void)(word)

static fmi3Status say(instance *it)
{
  fmi3LogMessageCallback logger = (fmi3LogMessageCallback)it->logger;
  if (logger) logger(it->environment, fmi3Error, "logStatusError", it->said);
  return fmi3Error;
}

static fmi3Status lacks(fmi3Instance instance_, const char *what)
{
  instance *it = instance_;
  sprintf(it->said, "%s is no function of this model", what);
  return say(it);
}

SEEN const char *F(fmi3GetVersion)(void) { return "3.0"; }

PUBLIC(fmi3SetDebugLogging)(fmi3Instance it, fmi3Boolean on, size_t count, const fmi3String categories[])
{
  UNUSED(it), UNUSED(on), UNUSED(count), UNUSED(categories);
  return fmi3OK;
}

SEEN fmi3Instance F(fmi3InstantiateCoSimulation)(
  fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
  fmi3Boolean early, const fmi3ValueReference intermediate[], size_t count, fmi3InstanceEnvironment environment,
  fmi3LogMessageCallback logger, fmi3IntermediateUpdateCallback update)
{
  instance *it;
  UNUSED(resources), UNUSED(visible), UNUSED(logging), UNUSED(early), UNUSED(intermediate), UNUSED(count), UNUSED(update);
  it = events ? 0 : made(name, token);
  if (it) {
    it->environment = environment;
    it->logger = (void (*)(void))logger;
  } else if (logger) {
    logger(environment, fmi3Error, "logStatusError",
           events ? "this model has no event mode" : "the instantiation token is not that of this model");
  }
  return it;
}

SEEN fmi3Instance F(fmi3InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                                  fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                                  fmi3LogMessageCallback logger)
{
  UNUSED(name), UNUSED(token), UNUSED(resources), UNUSED(visible), UNUSED(logging);
  if (logger) logger(environment, fmi3Error, "logStatusError", "this model is for co-simulation");
  return 0;
}

SEEN fmi3Instance F(fmi3InstantiateScheduledExecution)(
  fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
  fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger, fmi3ClockUpdateCallback update,
  fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
  UNUSED(name), UNUSED(token), UNUSED(resources), UNUSED(visible), UNUSED(logging), UNUSED(update), UNUSED(lock), UNUSED(unlock);
  if (logger) logger(environment, fmi3Error, "logStatusError", "this model is for co-simulation");
  return 0;
}

SEEN void F(fmi3FreeInstance)(fmi3Instance it) { free(it); }

PUBLIC(fmi3EnterInitializationMode)(fmi3Instance it, fmi3Boolean with_tolerance, fmi3Float64 tolerance, fmi3Float64 start,
                                    fmi3Boolean with_stop, fmi3Float64 stop)
{
  UNUSED(with_tolerance), UNUSED(tolerance), UNUSED(with_stop), UNUSED(stop);
  return enter(it, start) ? fmi3OK : say(it);
}

PUBLIC(fmi3ExitInitializationMode)(fmi3Instance it)
{
  begin_steps(it);
  return fmi3OK;
}

PUBLIC(fmi3Terminate)(fmi3Instance it)
{
  ((instance *)it)->n.mode = ENDED;
  return fmi3OK;
}

PUBLIC(fmi3Reset)(fmi3Instance it)
{
  restart(it);
  return fmi3OK;
}

PUBLIC(fmi3GetFloat64)(fmi3Instance it, const fmi3ValueReference which[], size_t n, fmi3Float64 to[], size_t values)
{
  UNUSED(values);
  return got(it, which, n, to) ? fmi3OK : say(it);
}

PUBLIC(fmi3SetFloat64)(fmi3Instance it, const fmi3ValueReference which[], size_t n, const fmi3Float64 from[], size_t values)
{
  UNUSED(values);
  return given(it, which, n, from) ? fmi3OK : say(it);
}

PUBLIC(fmi3DoStep)(fmi3Instance it, fmi3Float64 t, fmi3Float64 length, fmi3Boolean no_return, fmi3Boolean *events,
                   fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last)
{
  int well = stepped(it, t, length);
  UNUSED(no_return);
  *events = *terminate = *early = false;
  *last = ((instance *)it)->n.values[0];
  return well ? fmi3OK : say(it);
}

PUBLIC(fmi3GetFMUState)(fmi3Instance it, fmi3FMUState *state)
{
  if (*state) memcpy(*state, &((instance *)it)->n, sizeof(numbers));
  else *state = kept(&((instance *)it)->n);
  return *state ? fmi3OK : fmi3Error;
}

PUBLIC(fmi3SetFMUState)(fmi3Instance it, fmi3FMUState state)
{
  memcpy(&((instance *)it)->n, state, sizeof(numbers));
  return fmi3OK;
}

PUBLIC(fmi3FreeFMUState)(fmi3Instance it, fmi3FMUState *state)
{
  UNUSED(it);
  free(*state);
  *state = 0;
  return fmi3OK;
}

PUBLIC(fmi3SerializedFMUStateSize)(fmi3Instance it, fmi3FMUState state, size_t *size)
{
  UNUSED(it), UNUSED(state);
  *size = sizeof(numbers);
  return fmi3OK;
}

PUBLIC(fmi3SerializeFMUState)(fmi3Instance it, fmi3FMUState state, fmi3Byte to[], size_t size)
{
  if (size < sizeof(numbers)) return lacks(it, "serialising into so little room");
  memcpy(to, state, sizeof(numbers));
  return fmi3OK;
}

PUBLIC(fmi3DeserializeFMUState)(fmi3Instance it, const fmi3Byte from[], size_t size, fmi3FMUState *state)
{
  if (!own(it, from, size)) return lacks(it, "taking the state of another model");
  *state = kept((const numbers *)(const void *)from);
  return *state ? fmi3OK : fmi3Error;
}

/* ---- what a model of doubles for co-simulation does not have ---- */
#define NO_VALUES(type)                                                                                                        \
  PUBLIC(fmi3Get##type)(fmi3Instance it, const fmi3ValueReference which[], size_t n, fmi3##type to[], size_t values)           \
  {                                                                                                                            \
    UNUSED(which), UNUSED(to), UNUSED(values);                                                                                 \
    return n ? lacks(it, "getting " #type) : fmi3OK;                                                                           \
  }                                                                                                                            \
  PUBLIC(fmi3Set##type)(fmi3Instance it, const fmi3ValueReference which[], size_t n, const fmi3##type from[], size_t values)   \
  {                                                                                                                            \
    UNUSED(which), UNUSED(from), UNUSED(values);                                                                               \
    return n ? lacks(it, "setting " #type) : fmi3OK;                                                                           \
  }
NO_VALUES(Float32)
NO_VALUES(Int8)
NO_VALUES(UInt8)
NO_VALUES(Int16)
NO_VALUES(UInt16)
NO_VALUES(Int32)
NO_VALUES(UInt32)
NO_VALUES(Int64)
NO_VALUES(UInt64)
NO_VALUES(Boolean)
NO_VALUES(String)

#define LACKS(name, ...)                                                                                                       \
  PUBLIC(name)(fmi3Instance it, __VA_ARGS__) { return lacks(it, #name); }
#define LACKS_ALONE(name)                                                                                                      \
  PUBLIC(name)(fmi3Instance it) { return lacks(it, #name); }
#define MANY const fmi3ValueReference a[], size_t n

PUBLIC(fmi3GetBinary)(fmi3Instance it, MANY, size_t sizes[], fmi3Binary to[], size_t values)
{
  UNUSED(a), UNUSED(sizes), UNUSED(to), UNUSED(values);
  return n ? lacks(it, "getting Binary") : fmi3OK;
}
PUBLIC(fmi3SetBinary)(fmi3Instance it, MANY, const size_t sizes[], const fmi3Binary from[], size_t values)
{
  UNUSED(a), UNUSED(sizes), UNUSED(from), UNUSED(values);
  return n ? lacks(it, "setting Binary") : fmi3OK;
}
PUBLIC(fmi3GetClock)(fmi3Instance it, MANY, fmi3Clock to[])
{
  UNUSED(a), UNUSED(to);
  return n ? lacks(it, "getting Clock") : fmi3OK;
}
PUBLIC(fmi3SetClock)(fmi3Instance it, MANY, const fmi3Clock from[])
{
  UNUSED(a), UNUSED(from);
  return n ? lacks(it, "setting Clock") : fmi3OK;
}
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
LACKS_ALONE(fmi3EnterEventMode)
LACKS_ALONE(fmi3EnterConfigurationMode)
LACKS_ALONE(fmi3ExitConfigurationMode)
LACKS_ALONE(fmi3EvaluateDiscreteStates)
LACKS_ALONE(fmi3EnterContinuousTimeMode)
LACKS_ALONE(fmi3EnterStepMode)
LACKS(fmi3GetNumberOfVariableDependencies, fmi3ValueReference a, size_t *n)
LACKS(fmi3GetVariableDependencies, fmi3ValueReference a, size_t b[], fmi3ValueReference c[], size_t d[], fmi3DependencyKind e[],
      size_t n)
LACKS(fmi3GetDirectionalDerivative, MANY, const fmi3ValueReference b[], size_t m, const fmi3Float64 c[], size_t l, fmi3Float64 d[],
      size_t k)
LACKS(fmi3GetAdjointDerivative, MANY, const fmi3ValueReference b[], size_t m, const fmi3Float64 c[], size_t l, fmi3Float64 d[],
      size_t k)
LACKS(fmi3GetIntervalDecimal, MANY, fmi3Float64 b[], fmi3IntervalQualifier c[])
LACKS(fmi3GetIntervalFraction, MANY, fmi3UInt64 b[], fmi3UInt64 c[], fmi3IntervalQualifier d[])
LACKS(fmi3GetShiftDecimal, MANY, fmi3Float64 b[])
LACKS(fmi3GetShiftFraction, MANY, fmi3UInt64 b[], fmi3UInt64 c[])
LACKS(fmi3SetIntervalDecimal, MANY, const fmi3Float64 b[])
LACKS(fmi3SetIntervalFraction, MANY, const fmi3UInt64 b[], const fmi3UInt64 c[])
LACKS(fmi3SetShiftDecimal, MANY, const fmi3Float64 b[])
LACKS(fmi3SetShiftFraction, MANY, const fmi3UInt64 b[], const fmi3UInt64 c[])
LACKS(fmi3UpdateDiscreteStates, fmi3Boolean *a, fmi3Boolean *b, fmi3Boolean *c, fmi3Boolean *d, fmi3Boolean *e, fmi3Float64 *f)
LACKS(fmi3CompletedIntegratorStep, fmi3Boolean a, fmi3Boolean *b, fmi3Boolean *c)
LACKS(fmi3SetTime, fmi3Float64 a)
LACKS(fmi3SetContinuousStates, const fmi3Float64 a[], size_t n)
LACKS(fmi3GetContinuousStateDerivatives, fmi3Float64 a[], size_t n)
LACKS(fmi3GetEventIndicators, fmi3Float64 a[], size_t n)
LACKS(fmi3GetContinuousStates, fmi3Float64 a[], size_t n)
LACKS(fmi3GetNominalsOfContinuousStates, fmi3Float64 a[], size_t n)
LACKS(fmi3GetNumberOfEventIndicators, size_t *n)
LACKS(fmi3GetNumberOfContinuousStates, size_t *n)
LACKS(fmi3GetOutputDerivatives, MANY, const fmi3Int32 b[], fmi3Float64 c[], size_t m)
LACKS(fmi3ActivateModelPartition, fmi3ValueReference a, fmi3Float64 b)
