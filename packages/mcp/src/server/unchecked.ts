import type { jsonSchemaValidator } from '@modelcontextprotocol/server';

/** The tools check their input themselves: their messages tell the model what to do. */
export const UNCHECKED: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};
