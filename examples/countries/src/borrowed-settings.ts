import type { Client } from './client.ts';

type Values = Readonly<Record<string, string>>;

/** Settings that the demo changes while it runs. */
export interface BorrowedSettings {
  /** Every setting as it was at the start. */
  readonly before: Values;
  change(key: string, value: string): Promise<void>;
  /** Restores all changed settings. */
  restore(): Promise<void>;
}

const path = '/api/v1/admin/settings';

/** Reads the stack's settings, to be restored later. */
export async function borrowSettings(admin: Client): Promise<BorrowedSettings> {
  const before = await admin.call<Values>('GET', path);
  const changed = new Set<string>();
  return {
    before,
    async change(key, value) {
      changed.add(key);
      await admin.call('PATCH', path, { [key]: value });
    },
    async restore() {
      if (changed.size === 0) return;
      await admin.call('PATCH', path, Object.fromEntries([...changed].map((key) => [key, before[key] ?? ''])));
      changed.clear();
    },
  };
}
