/** Marks text as Lua. Backslashes are kept. Only numbers are interpolated. */
export const lua = String.raw;
