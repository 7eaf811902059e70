/* One instance of an FMU: its numbers, what may be set when, whole samples. Both versions of the interface stand on this.
 *
 * layout.h says what the model is: counts of its numbers, and its functions on rows of them. A value reference is a place in
 * `values`: inputs (the time first), outputs, states, parameters. All memory is the instance's; there are as many as asked for.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

#define OUTPUTS_AT INPUTS
#define STATES_AT (OUTPUTS_AT + OUTPUTS)
#define PARAMETERS_AT (STATES_AT + STATES)
#define VALUES (PARAMETERS_AT + PARAMETERS)
#define NEAR 1e-6 /* of a sample, that a communication point may lie beside it */

#if defined(_WIN32)
#define SEEN __declspec(dllexport)
#elif defined(__GNUC__)
#define SEEN __attribute__((visibility("default")))
#else
#define SEEN
#endif
#define JOINED_(a, b) a##b
#define JOINED(a, b) JOINED_(a, b)

enum { MADE, INITIALISING, STEPPING, ENDED };

/* What is saved, restored and sent as bytes: no pointers, no gaps. */
typedef struct {
  char token[40];
  double values[VALUES];
  double constants[CONSTANTS + 1];
  long long sample; /* the next one */
  long long mode;
} numbers;

typedef struct {
  numbers n;
  void *environment;
  void (*logger)(void);
  char name[200];
  char said[400]; /* the last message */
} instance;

static void restart(instance *it)
{
  memset(&it->n, 0, sizeof it->n);
  memcpy(it->n.token, MODEL_TOKEN, sizeof MODEL_TOKEN);
  model_defaults(it->n.values, it->n.values + STATES_AT, it->n.values + PARAMETERS_AT);
  model_prepare(it->n.values + PARAMETERS_AT, it->n.constants);
}

static instance *made(const char *name, const char *token)
{
  instance *it;
  if (!token || strcmp(token, MODEL_TOKEN)) return 0;
  it = calloc(1, sizeof *it);
  if (!it) return 0;
  strncpy(it->name, name ? name : "", sizeof it->name - 1);
  restart(it);
  return it;
}

static void renew_outputs(instance *it)
{
  double *v = it->n.values;
  model_outputs(it->n.constants, v, v + STATES_AT, v + OUTPUTS_AT);
}

/* 1, or 0 with a message */
static int enter(instance *it, double start)
{
  double count = start / SAMPLE_TIME;
  if (!(fabs(count - floor(count + 0.5)) <= NEAR)) {
    sprintf(it->said, "the start at %g s is not a whole number of samples of %g s", start, SAMPLE_TIME);
    return 0;
  }
  it->n.sample = (long long)floor(count + 0.5);
  it->n.values[0] = (double)it->n.sample * SAMPLE_TIME;
  it->n.mode = INITIALISING;
  return 1;
}

static void begin_steps(instance *it)
{
  double *v = it->n.values;
  model_prepare(v + PARAMETERS_AT, it->n.constants);
  model_start(it->n.constants, v, v + STATES_AT);
  renew_outputs(it);
  it->n.mode = STEPPING;
}

static int got(instance *it, const unsigned *references, size_t count, double *to)
{
  if (it->n.mode == INITIALISING) model_prepare(it->n.values + PARAMETERS_AT, it->n.constants);
  if (it->n.mode == INITIALISING || it->n.mode == STEPPING) renew_outputs(it);
  for (size_t i = 0; i < count; ++i) {
    if (references[i] >= VALUES) {
      sprintf(it->said, "there is no variable with value reference %u", references[i]);
      return 0;
    }
    to[i] = it->n.values[references[i]];
  }
  return 1;
}

static const char *refusal(const instance *it, unsigned reference)
{
  int early = it->n.mode == MADE || it->n.mode == INITIALISING;
  if (reference == 0) return "is the time";
  if (reference >= VALUES) return "is none of this model";
  if (reference < OUTPUTS_AT) return 0;
  if (reference < STATES_AT) return "is an output";
  if (reference >= STATES_AT + SETTABLE && reference < PARAMETERS_AT) return "is memory of the law";
  return early ? 0 : "can be set before the first step alone";
}

/* All of them, or none, with a message. */
static int given(instance *it, const unsigned *references, size_t count, const double *from)
{
  for (size_t i = 0; i < count; ++i) {
    const char *why = refusal(it, references[i]);
    if (!why) continue;
    sprintf(it->said, "value reference %u %s", references[i], why);
    return 0;
  }
  for (size_t i = 0; i < count; ++i) it->n.values[references[i]] = from[i];
  return 1;
}

/* Whole samples from t on; 1, or 0 with a message. */
static int stepped(instance *it, double t, double length)
{
  double *v = it->n.values, count = length / SAMPLE_TIME, whole = floor(count + 0.5);
  double here = (double)it->n.sample * SAMPLE_TIME;
  if (it->n.mode != STEPPING) {
    sprintf(it->said, "a step is asked for before the initialisation is done, or after the end");
    return 0;
  }
  if (!(whole >= 1.0 && fabs(count - whole) <= NEAR * whole)) {
    sprintf(it->said, "a step of %g s is not a whole number of samples of %g s", length, SAMPLE_TIME);
    return 0;
  }
  if (!(fabs(t - here) <= NEAR * SAMPLE_TIME + 1e-12 * fabs(here))) {
    sprintf(it->said, "the step begins at %.9g s, and this instance is at %.9g s", t, here);
    return 0;
  }
  for (; whole >= 1.0; whole -= 1.0) {
    v[0] = (double)it->n.sample * SAMPLE_TIME;
    if (!model_step(it->n.constants, v, v + STATES_AT, v + OUTPUTS_AT)) {
      sprintf(it->said, "the state left all numbers in the sample from %.9g s on", v[0]);
      it->n.mode = ENDED;
      return 0;
    }
    it->n.sample += 1;
  }
  v[0] = (double)it->n.sample * SAMPLE_TIME;
  renew_outputs(it);
  return 1;
}

/* Whether bytes are a state of this very model. */
static int own(const instance *it, const void *bytes, size_t size)
{
  return size == sizeof it->n && !memcmp(bytes, it->n.token, sizeof it->n.token);
}

static numbers *kept(const numbers *from)
{
  numbers *to = malloc(sizeof *to);
  if (to) memcpy(to, from, sizeof *to);
  return to;
}
