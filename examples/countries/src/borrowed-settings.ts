import type { Client } from './client.ts';

type Values = Readonly<Record<string, string>>;

/** Settings that the demo changes for as long as it runs. */
export interface BorrowedSettings {
  /** Every setting as it was at the start. */
  readonly before: Values;
  change(key: string, value: string): Promise<void>;
  /** Puts everything that was changed back to what it was. */
  giveBack(): Promise<void>;
}

const path = '/api/v1/admin/settings';

/** Reads the settings of the stack. */
export async function borrowSettings(admin: Client): Promise<BorrowedSettings> {
  const before = await admin.call<Values>('GET', path);
  const changed = new Set<string>();
  return {
    before,
    async change(key, value) {
      changed.add(key);
      await admin.call('PATCH', path, { [key]: value });
    },
    async giveBack() {
      if (changed.size === 0) return;
      await admin.call('PATCH', path, Object.fromEntries([...changed].map((key) => [key, before[key] ?? ''])));
      changed.clear();
    },
  };
}
