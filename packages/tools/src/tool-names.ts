/** Every tool by its name, old names and those of adapters last: what rules may speak of. */
export const TOOL_NAMES = [
  'read_file',
  'write_file',
  'list_files',
  'edit_file',
  'delete_file',
  'move_file',
  'search_files',
  'grep',
  'checkpoint',
  'rollback',
  'diff',
  'sandbox_read_text',
  'sandbox_write_text',
  'sandbox_list',
  'apply_patch',
  'str_replace_based_edit_tool',
  'memory',
] as const;

/** The old names of tools. */
export const LEGACY_NAMES: Readonly<Record<string, string>> = {
  read_file: 'sandbox_read_text',
  write_file: 'sandbox_write_text',
  list_files: 'sandbox_list',
};
