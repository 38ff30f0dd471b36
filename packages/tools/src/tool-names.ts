/** Names of tools that rules may use: all file tools, legacy names, and the tools of adapters. */
export const TOOL_NAMES = [
  'read_file',
  'read_media',
  'write_file',
  'list_files',
  'file_info',
  'make_directory',
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

/** Legacy names by current name. */
export const LEGACY_NAMES: Readonly<Record<string, string>> = {
  read_file: 'sandbox_read_text',
  write_file: 'sandbox_write_text',
  list_files: 'sandbox_list',
};
