/**
 * A procedure written once for the synchronous and the asynchronous form: it yields requests and receives their
 * results. The driver decides how a request is performed.
 */
export type Procedure<Request, R> = Generator<Request, R, unknown>;

/** Runs a procedure to its end; `perform` returns the results of its requests. */
export function driveSync<Request, R>(procedure: Procedure<Request, R>, perform: (request: Request) => unknown): R {
  let step = procedure.next();
  while (!step.done) {
    let result: unknown;
    try {
      result = perform(step.value);
    } catch (error) {
      step = procedure.throw(error);
      continue;
    }
    step = procedure.next(result);
  }
  return step.value;
}

/** Like {@link driveSync}, for requests whose results may have to be waited for. */
export async function driveAsync<Request, R>(
  procedure: Procedure<Request, R>,
  perform: (request: Request) => unknown,
): Promise<R> {
  let step = procedure.next();
  while (!step.done) {
    let result: unknown;
    try {
      result = await perform(step.value);
    } catch (error) {
      step = procedure.throw(error);
      continue;
    }
    step = procedure.next(result);
  }
  return step.value;
}

/** Returns the value that the filter of `cpSync` returned. @throws TypeError for a promise */
export function notLater(value: unknown): unknown {
  if (!(value instanceof Promise)) return value;
  // Nothing observes the promise: its rejection must not count as unhandled.
  value.catch(() => {});
  throw new TypeError('filter of cpSync must not return a promise: use cp');
}
