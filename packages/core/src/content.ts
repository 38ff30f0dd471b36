/** Content to store. Text is stored as UTF-8. Views are copied: stored bytes never alias them. */
export type Content = string | ArrayBuffer | ArrayBufferView;
