import type { SchemaFiles } from '@recordbus/client';

/** What a plan takes from the document. A part that is left out stays as it is. */
export interface Parts {
  readonly webhooks: boolean;
  readonly settings: boolean;
}

/** Reads a downloaded schema. Returns undefined for another text. */
export function readDocument(text: string): SchemaFiles | undefined {
  try {
    const value: Partial<SchemaFiles> | null = JSON.parse(text);
    return value?.version === 1 && Array.isArray(value.collections) ? (value as SchemaFiles) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the document with the chosen parts. */
export function withParts({ webhooks, settings, ...schema }: SchemaFiles, parts: Parts): SchemaFiles {
  return {
    ...schema,
    ...(parts.webhooks && webhooks && { webhooks }),
    ...(parts.settings && settings && { settings }),
  };
}

/** Lists the variables that a document names for secrets. */
export function variablesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { $env: name, ...members } = value as Readonly<Record<string, unknown>>;
  const own = typeof name === 'string' ? [name] : [];
  return [...new Set([...own, ...Object.values(members).flatMap(variablesIn)])];
}
