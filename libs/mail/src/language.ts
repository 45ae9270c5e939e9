import type { Settings } from '@recordbus/settings';

/** Longer than any language tag that a template may have, with what programs add to it. */
const maxLength = 64;

/** A language, perhaps with a script and a region (BCP 47), and what follows them. Programs also write `de_AT.UTF-8`. */
const tag = /^([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|[0-9]{3}))?(?:[-_.@][^\p{C}\s]*)?$/u;

/**
 * Reads a language as people and programs write it: `de-AT`, `DE`, `de_AT`. Returns the form of the settings' keys, and
 * undefined for anything else.
 */
export function readLanguage(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > maxLength) return undefined;
  const [, language, script, region] = tag.exec(value.trim()) ?? [];
  if (language === undefined) return undefined;
  return [
    language.toLowerCase(),
    ...(script ? [script.charAt(0).toUpperCase() + script.slice(1).toLowerCase()] : []),
    ...(region ? [region.toUpperCase()] : []),
  ].join('-');
}

/** Returns a language and the ones that stand in for it, nearest first: `de-AT`, `de`. */
export function languagesFrom(language: string): string[] {
  const parts = language.split('-');
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
}

/**
 * Returns the language for an account's mails: the value of the field that its collection's setting names (mail §2.7).
 * Undefined without one.
 */
export function findLanguage(
  settings: Pick<Settings, 'getNamed'>,
  collection: string,
  record: Readonly<Record<string, unknown>>,
): string | undefined {
  const field = settings.getNamed('mail.locale_field.<collection>', collection);
  return Object.hasOwn(record, field) ? readLanguage(record[field]) : undefined;
}
