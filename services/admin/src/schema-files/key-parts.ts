import type { Principal } from '@recordbus/request/context';
import { rightsOf, scopeMissing } from '@recordbus/request/key-rights';
import type { PresentedSchema } from './present-files.ts';
import type { SchemaDocument } from './schema-document.ts';

/** The schema parts that have their own scopes. */
const parts = ['settings', 'webhooks'] as const;

/** Throws 403 for a key without the scope for a part of the files (schema §1). */
export function refuseParts(principal: Principal, document: SchemaDocument, act: 'read' | 'write'): void {
  if (principal.type !== 'service') return;
  const rights = rightsOf(principal.scopes);
  for (const part of parts)
    if (document[part] !== undefined && !rights.has(`${part}:${act}`)) throw scopeMissing(`${part}:${act}`);
}

/** Returns the schema without the parts that a key may not read. */
export function withReadableParts(principal: Principal, schema: PresentedSchema): Partial<PresentedSchema> {
  if (principal.type !== 'service') return schema;
  const rights = rightsOf(principal.scopes);
  const { settings, webhooks, ...rest } = schema;
  return {
    ...rest,
    ...(rights.has('webhooks:read') && { webhooks }),
    ...(rights.has('settings:read') && { settings }),
  };
}
