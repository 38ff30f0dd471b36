/**
 * Formats a value with its own properties: bytes as characters, errors with their fields and causes but without stacks.
 * Values at a depth of more than six are left out.
 */
export function tell(value: unknown, depth = 0): string {
  if (value instanceof Uint8Array) return Array.from(value, (byte) => String.fromCharCode(byte)).join('');
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth > 6) return '…';
  if (value instanceof Date) return value.toISOString();
  const fields = Reflect.ownKeys(value).filter((key) => key !== 'stack');
  const told = fields.map((key) => {
    const field = Reflect.getOwnPropertyDescriptor(value, key);
    return `${String(key)}=${field !== undefined && 'value' in field ? tell(field.value, depth + 1) : 'getter'}`;
  });
  return `${value.constructor?.name ?? 'null'}{${told.join(', ')}}`;
}

/** Returns the outcome of work as text: the result, or the error. */
export async function outcomeOf(work: () => unknown): Promise<string> {
  try {
    return `answer ${tell(await work())}`;
  } catch (error) {
    return `error ${tell(error)}`;
  }
}
