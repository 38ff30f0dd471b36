/** Marks text as Lua. Nothing is put into it, and its backslashes are its own. */
export const lua = String.raw;
