/** Marks text as Lua. Backslashes are kept. Interpolated values must be constants. */
export const lua = String.raw;
