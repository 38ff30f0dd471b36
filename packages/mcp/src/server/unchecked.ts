import type { jsonSchemaValidator } from '@modelcontextprotocol/server';

/** A validator that accepts everything: the tools check their input themselves, and tell the model what to do. */
export const UNCHECKED: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};
