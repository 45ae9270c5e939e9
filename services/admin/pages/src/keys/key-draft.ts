import type { ServiceKey, ServiceKeyValues } from '@recordbus/client';
import { readable, type Unreadable } from '../ui/unreadable.ts';

const daySec = 86_400;

/** A new key's lifetimes, in days. 0 means no expiry. */
export const lifetimes: readonly (readonly [days: number, about: string])[] = [
  [30, '30 days'],
  [90, '90 days'],
  [365, '1 year'],
  [0, 'No expiry'],
];

/** A key in the editor. */
export interface KeyDraft {
  name: string;
  scopes: string[];
  /** Unix seconds. Null means no expiry. */
  expiresAtSec: number | null | Unreadable;
  networks: string;
  rateLabel: string;
}

export const draftOf = (key: ServiceKey | undefined): KeyDraft => ({
  name: key?.name ?? '',
  scopes: [...(key?.scopes ?? [])],
  expiresAtSec: key ? key.expires_at : expiryAfter(90),
  networks: (key?.allowed_cidrs ?? []).join('\n'),
  rateLabel: key?.rate_label ?? '',
});

/** Returns when a key with a lifetime in days expires, in unix seconds. Null for a lifetime of 0. */
export const expiryAfter = (days: number): number | null =>
  days === 0 ? null : Math.floor(Date.now() / 1000) + days * daySec;

/** Returns the values to send to the API. Throws an `UnreadableError` if one cannot be read. */
export const valuesOf = ({ name, scopes, expiresAtSec, networks, rateLabel }: KeyDraft): ServiceKeyValues => ({
  name,
  scopes,
  expires_at: readable({ Expires: expiresAtSec }).Expires as number | null,
  allowed_cidrs: networks
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter(Boolean),
  rate_label: rateLabel.trim() || null,
});

/** Whether a key has expired. */
export const hasExpired = ({ expires_at }: Pick<ServiceKey, 'expires_at'>): boolean =>
  expires_at !== null && expires_at * 1000 <= Date.now();
