import { client } from '../api/client.ts';

const key = 'hooks.http.allow';

const partsOf = (allowed: string): string[] => allowed.split(/[\s,]+/).filter(Boolean);

/** Returns the exceptions to the denied ranges. Reads the groups, since the whole settings list would bring secrets. */
export async function readAllowed(signal?: AbortSignal): Promise<string> {
  const groups = await client.admin.settings.groups({ signal });
  return groups.flatMap(({ settings }) => settings).find((setting) => setting.key === key)?.value ?? '';
}

/** Allows deliveries to an address or range. */
export async function allowRange(range: string): Promise<void> {
  const parts = partsOf(await readAllowed());
  if (!parts.includes(range)) await client.admin.settings.update({ [key]: [...parts, range].join(',') });
}

/** What a delivery's error says about a blocked target. */
export interface Blocked {
  readonly address: string;
  /** Whether it is on this machine or in a private network, so that one may want to allow it. */
  readonly isPrivate: boolean;
}

/** Reads a delivery's error (webhooks §7.3). Undefined if nothing was blocked. */
export function readBlocked(error: string | null): Blocked | undefined {
  const [, address] =
    /^egress blocked: (?:.{1,300} is )?([\da-fA-F.:]{2,45})(?:, which)? lies in/.exec(error ?? '') ?? [];
  if (address === undefined) return undefined;
  return { address, isPrivate: /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd])/i.test(address) };
}
