/** Marks text as Lua. Backslashes are kept. Only constants are interpolated. */
export const lua = String.raw;
