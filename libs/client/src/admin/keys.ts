import type { Page, PageOptions } from '../records/options.ts';
import type { CallOptions } from '../transport.ts';
import type { Requests } from './requests.ts';

/** What a service key may do, and from where. */
export interface ServiceKeyValues {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Unix seconds; null for no end. */
  readonly expires_at?: number | null;
  readonly allowed_cidrs?: readonly string[];
  readonly rate_label?: string | null;
  /** Whether rate limits count the key's requests; if not, it ends within a day. */
  readonly rate_limited?: boolean;
}

/** A service key, without its secret. */
export interface ServiceKey extends Required<ServiceKeyValues> {
  readonly id: string;
  readonly prefix: string;
  readonly created_by: { readonly type: string; readonly id: string | null };
  readonly created_at: number;
  readonly updated_at: number;
  readonly last_used_at: number | null;
  readonly last_used_ip: string | null;
}

const base = ['admin', 'keys'];

/** Service keys (keys §1). */
export const createKeys = ({ get, page, create, patch, remove }: Requests) => ({
  list: (paging?: PageOptions, options?: CallOptions) => page<Page<ServiceKey>>(base, paging, options),
  get: (id: string, options?: CallOptions) => get<ServiceKey>([...base, id], options),
  /** Makes a key. Only this answer has the key itself. */
  create: (values: ServiceKeyValues, options?: CallOptions) =>
    create<ServiceKey & { readonly key: string }>(base, values, options),
  update: (id: string, changes: Partial<ServiceKeyValues>, options?: CallOptions) =>
    patch<ServiceKey>([...base, id], changes, options),
  /** Revokes a key. */
  delete: (id: string, options?: CallOptions) => remove([...base, id], options),
});
