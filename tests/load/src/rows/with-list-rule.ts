import type { Ground } from './row.ts';

/** Sets a collection's list rule. Returns a function that makes it public again. */
export async function withListRule({ admin }: Ground, collection: string, rule: string): Promise<() => Promise<void>> {
  const { id } = await admin.call<{ id: string }>('GET', `/api/v1/collections/${collection}`);
  const set = (list_rule: string | null) => admin.call('PATCH', `/api/v1/collections/${id}`, { list_rule });
  await set(rule);
  return async () => {
    await set(null);
  };
}
