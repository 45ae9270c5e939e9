import { Unreadable } from '../ui/unreadable.ts';

/** Reads headers, one in each line as `Name: value`. */
export function readHeaders(text: string): Readonly<Record<string, string>> | Unreadable {
  const found = new Map<string, [name: string, value: string]>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const at = line.indexOf(':');
    const name = line.slice(0, at).trim();
    const complain = (what: string): Unreadable => new Unreadable(text, `Line ${index + 1}: ${what}.`);
    if (at < 0 || name === '') return complain('write Name: value');
    if (found.has(name.toLowerCase())) return complain(`${name} is given twice`);
    found.set(name.toLowerCase(), [name, line.slice(at + 1).trim()]);
  }
  return Object.fromEntries(found.values());
}
