import type { ServiceKey, ServiceKeyValues } from '@recordbus/client';

const daySec = 86_400;

/** How long a new key may last, in days; 0 is for ever. */
export const lifetimes: readonly (readonly [days: number, about: string])[] = [
  [30, '30 days'],
  [90, '90 days'],
  [365, 'a year'],
  [0, 'no end'],
];

/** A key while it is edited. */
export interface KeyDraft {
  name: string;
  scopes: string[];
  /** An input of the type `datetime-local`, or empty for no end. */
  endsAtSec: number | null;
  networks: string;
  rateLabel: string;
}

export const draftOf = (key: ServiceKey | undefined): KeyDraft => ({
  name: key?.name ?? '',
  scopes: [...(key?.scopes ?? [])],
  endsAtSec: key ? key.expires_at : endAfter(90),
  networks: (key?.allowed_cidrs ?? []).join('\n'),
  rateLabel: key?.rate_label ?? '',
});

/** When a key ends that lasts some days from now; null for none. */
export const endAfter = (days: number): number | null =>
  days === 0 ? null : Math.floor(Date.now() / 1000) + days * daySec;

/** Returns what the API takes. */
export const valuesOf = ({ name, scopes, endsAtSec, networks, rateLabel }: KeyDraft): ServiceKeyValues => ({
  name,
  scopes,
  expires_at: endsAtSec,
  allowed_cidrs: networks
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter(Boolean),
  rate_label: rateLabel.trim() || null,
});

/** Whether a key no longer works. */
export const hasEnded = ({ expires_at }: Pick<ServiceKey, 'expires_at'>): boolean =>
  expires_at !== null && expires_at * 1000 <= Date.now();
