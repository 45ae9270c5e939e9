import type { SchemaDocument } from './schema-target.ts';

/** Returns the variables that the files name, from the environment. */
export function variablesOf({ webhooks, settings }: SchemaDocument): Record<string, string> {
  const names = new Set<string>();
  collectNames([webhooks, settings], names);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const value = process.env[name];
      return value === undefined || value === '' ? [] : [[name, value]];
    }),
  );
}

function collectNames(value: unknown, names: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  if ('$env' in value && typeof value.$env === 'string') names.add(value.$env);
  for (const member of Object.values(value)) collectNames(member, names);
}
