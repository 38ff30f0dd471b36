/** Sets an entry of a map as its newest one, and deletes the oldest if there are more than `max`. */
export function setNewest<T>(entries: Map<string, T>, key: string, value: T, max: number): void {
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > max && oldest !== undefined) entries.delete(oldest);
}
