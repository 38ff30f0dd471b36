export function bundleProgram(folder: string): Promise<void>;
