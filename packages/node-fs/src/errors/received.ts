/** Describes an argument as at the end of Node's messages: `type string ('x')`, `an instance of Map`. */
export function received(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  switch (typeof value) {
    case 'function':
      return `function ${value.name}`;
    case 'object': {
      const name = (value.constructor as { name?: unknown } | undefined)?.name;
      return typeof name === 'string' ? `an instance of ${name}` : '[Object: null prototype] {}';
    }
    case 'string': {
      const text = value.length > 28 ? `${value.slice(0, 25)}...` : value;
      return `type string (${text.includes("'") ? JSON.stringify(text) : `'${text}'`})`;
    }
    default:
      return `type ${typeof value} (${inspect(value)})`;
  }
}

const MAX_INSPECTED_LENGTH = 128;

/** Formats a value as Node's messages do; objects only in outline. */
export function inspect(value: unknown): string {
  if (typeof value === 'string') return inspectText(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'function') return `[Function: ${value.name === '' ? '(anonymous)' : value.name}]`;
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[ ${value.map(inspect).join(', ')} ]`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Uint8Array) return inspectBytes(value);
  const entries = Object.entries(value).map(([key, inner]) => `${key}: ${inspectInner(inner)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

export function inspectCut(value: unknown): string {
  const text = inspect(value);
  return text.length > MAX_INSPECTED_LENGTH ? `${text.slice(0, MAX_INSPECTED_LENGTH)}...` : text;
}

function inspectInner(value: unknown): string {
  return typeof value === 'object' && value !== null ? '[Object]' : inspect(value);
}

const MAX_SHOWN_BYTES = 50;

function inspectBytes(bytes: Uint8Array): string {
  const { name } = bytes.constructor;
  if (name !== 'Buffer') return `${name}(${bytes.length}) ${inspect([...bytes])}`;
  const shown = Array.from(bytes.subarray(0, MAX_SHOWN_BYTES), (byte) => byte.toString(16).padStart(2, '0'));
  const rest = bytes.length - MAX_SHOWN_BYTES;
  return `<Buffer ${shown.join(' ')}${rest > 0 ? ` ... ${rest} more byte${rest > 1 ? 's' : ''}` : ''}>`;
}

const NAMED: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
  '\\': '\\\\',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are escaped
const ESCAPED = /[\u0000-\u001f\u007f-\u009f\\]|[\ud800-\udfff]/gu;

function inspectText(text: string): string {
  const quote = ["'", '"', '`'].find((mark) => !text.includes(mark)) ?? "'";
  const inner = text.replace(ESCAPED, (character) => {
    const code = character.charCodeAt(0);
    const hex = code.toString(16).toUpperCase();
    return NAMED[character] ?? (code > 0xff ? `\\u${hex}` : `\\x${hex.padStart(2, '0')}`);
  });
  return quote + (quote === "'" ? inner.replaceAll("'", "\\'") : inner) + quote;
}
