export type SqlValue = ArrayBuffer | string | number | null;
export type Row = Readonly<Record<string, SqlValue>>;

/** The used part of `ctx.storage` of a Durable Object whose class has SQLite storage. */
export interface SqlObjectState {
  readonly sql: {
    exec(query: string, ...bindings: (SqlValue | Uint8Array)[]): { toArray(): Record<string, SqlValue>[] };
  };
  transactionSync<T>(work: () => T): T;
}

/** @throws TypeError if it has no `transactionSync`, as the storage of a Durable Object has */
export function checkState(state: unknown): SqlObjectState {
  // `sql` is not read here: the property itself throws for a class without SQLite.
  if (typeof (state as Partial<SqlObjectState> | null | undefined)?.transactionSync !== 'function')
    throw new TypeError(
      'A DurableObjectStorage needs the storage of a Durable Object, ctx.storage; this has no transactionSync()',
    );
  return state as SqlObjectState;
}
