import { MemoryStorage, openFileSystem } from '@scratchfs/core';
import { Sandbox } from '@scratchfs/sandbox';
import { createFileTools, type PropertySchema, readInput, type Tool } from '@scratchfs/tools';
import { asOperation } from './as-operation.js';
import type { ServerTool } from './server-tool.js';

interface Offer {
  readonly effect: 'none' | 'attempt';
  readonly paths: readonly string[];
  /** Parameters that the schema leaves out, to save space in the model's context. Calls may still have them. */
  readonly without?: readonly string[];
  readonly required?: readonly string[];
}

/**
 * Schemas of parameters that several tools have, shorter than those of the library: they all take space in the context.
 */
const SHORT: Readonly<Record<string, PropertySchema>> = {
  exclude: { type: 'string', description: 'Names to leave out: node_modules or {dist,*.min.js}.' },
  offset: { type: 'integer', description: 'Number to skip, to continue a result.', minimum: 0 },
  edits: {
    type: 'array',
    description: 'Made in their order.',
    minItems: 1,
    items: {
      type: 'object',
      properties: {
        old_text: { type: 'string', description: 'Exactly as in the file, white space included.' },
        new_text: { type: 'string', description: 'What replaces it.' },
        replace_all: { type: 'boolean', description: 'Every occurrence.' },
      },
      required: ['old_text', 'new_text'],
      additionalProperties: false,
    },
  },
};

const OFFERS: Readonly<Record<string, Offer>> = {
  read_file: { effect: 'none', paths: ['path'], without: ['char_offset', 'max_chars'] },
  read_media: { effect: 'none', paths: ['path'] },
  write_file: { effect: 'attempt', paths: ['path'] },
  edit_file: {
    effect: 'attempt',
    paths: ['path'],
    without: ['old_text', 'new_text', 'replace_all'],
    required: ['path', 'edits'],
  },
  delete_file: { effect: 'attempt', paths: ['path'] },
  move_file: { effect: 'attempt', paths: ['from', 'to'] },
  list_files: { effect: 'none', paths: ['path'] },
  search_files: { effect: 'none', paths: ['path'] },
  grep: { effect: 'none', paths: ['path'], without: ['context'] },
};

/**
 * Returns the file tools of `@scratchfs/tools` that the server offers. Each change that a call makes is an operation of its
 * attempt.
 */
export function fileTools(): ServerTool[] {
  // Only their names, descriptions and schemas are used: the tools that run are those of an attempt.
  const sandbox = new Sandbox(openFileSystem(new MemoryStorage()));
  const { tools } = createFileTools(sandbox, { only: Object.keys(OFFERS) });
  return tools.map(fileTool);
}

function fileTool({ name, description, inputSchema }: Tool): ServerTool {
  const { effect, paths, without = [], required = inputSchema.required } = OFFERS[name] as Offer;
  const properties = Object.entries(inputSchema.properties).filter(([property]) => !without.includes(property));
  return {
    name,
    description,
    properties: Object.fromEntries(properties.map(([property, schema]) => [property, shortened(property, schema)])),
    required,
    effect,
    needsClient: effect === 'attempt',
    paths,
    unpublished: without,
    fileTool: name,
    check: (input) => void readInput(inputSchema, input),
    call: (input, context) => {
      const { files, signal } = context;
      return asOperation({ name, effect, paths }, input, context, () => files.call(name, input, { signal }));
    },
  };
}

/** Returns a shorter schema: one of `SHORT`, or the given one without what its description says too. */
function shortened(name: string, schema: PropertySchema): PropertySchema {
  // The `offset` of read_file is a line, and keeps its own description.
  if (SHORT[name] !== undefined && !/^Line/.test(schema.description ?? '')) return SHORT[name];
  const { pattern: _, minLength: __, default: ___, ...rest } = schema as Partial<Record<string, unknown>>;
  return rest as PropertySchema;
}
