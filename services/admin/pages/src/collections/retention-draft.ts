import type { CollectionDefinition } from '@recordbus/client';
import type { Unreadable } from '../ui/unreadable.ts';
import type { FieldDraft } from './draft.ts';

/** A number in the editor; null while its input is empty. */
type DraftNumber = number | null | Unreadable;

/** How long records and their versions stay, in the editor (privacy §3.1, history §7). */
export interface RetentionDraft {
  /** Days; null for ever. */
  days: DraftNumber;
  /** `created`, `updated`, or a field's key: it survives a rename. */
  from: string | number;
  action: 'delete' | 'redact';
  versionDays: DraftNumber;
  versions: DraftNumber;
}

type Retained = Pick<CollectionDefinition, 'retain' | 'history_keep'>;

const times: readonly string[] = ['created', 'updated'];

/** Returns a collection's retention, with its field's key. */
export function retentionDraft({ retain, history_keep }: Retained, fields: readonly FieldDraft[]): RetentionDraft {
  const { field = 'created' } = retain ?? {};
  return {
    days: retain?.days ?? null,
    from: times.includes(field) ? field : (fields.find(({ name }) => name === field)?.key ?? field),
    action: retain?.action ?? 'delete',
    versionDays: history_keep?.days ?? null,
    versions: history_keep?.versions ?? null,
  };
}

/** Returns the members of a definition that say what stays. Null removes one. */
export function retentionValues(draft: RetentionDraft, fields: readonly FieldDraft[]): Record<string, unknown> {
  const { days, from, action, versionDays, versions } = draft;
  // A dropped field has no name, which the server refuses.
  const field = typeof from === 'string' ? from : (fields.find(({ key }) => key === from)?.name ?? '');
  const keep = { ...(versionDays !== null && { days: versionDays }), ...(versions !== null && { versions }) };
  return {
    retain: days === null ? null : { days, field, action },
    history_keep: Object.keys(keep).length === 0 ? null : keep,
  };
}
