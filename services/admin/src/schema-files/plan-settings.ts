import { AppError } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import type { Collection, Problems } from '@recordbus/schema';
import {
  type ChangedSettings,
  defaultTextOf,
  isSecretKey,
  isStateKey,
  type SettingsPatch,
  settingsPatch,
} from '@recordbus/settings';
import { checkChannelsOf } from '../settings/check-channels.ts';
import { checkCollectionsOf } from '../settings/check-collections.ts';
import { checkTemplatesOf } from '../settings/check-templates.ts';
import type { Change } from './change.ts';
import { needsVariable, type ReadText, readText, type Variables } from './read-text.ts';

/** The settings after the apply. */
export interface PlannedSettings {
  readonly patch: SettingsPatch;
  readonly changes: readonly Change[];
  /** The places whose variables were not given, and a sentence for each. These settings do not change. */
  readonly missing: ReadonlyMap<string, string>;
}

const noSettings: PlannedSettings = { patch: {}, changes: [], missing: new Map() };

/**
 * Compares the files' settings with the current ones. A setting that the files leave out returns to its default. Adds
 * what is wrong to `problems`.
 */
export function planSettings(
  wanted: Readonly<Record<string, unknown>> | undefined,
  current: ChangedSettings,
  { collections, variables, problems }: SettingsContext,
): PlannedSettings {
  if (wanted === undefined) return noSettings;
  const patch: Record<string, string> = {};
  const changes: Change[] = [];
  const missing = new Map<string, string>();
  const change = (key: string, text: string, variable: string | undefined) => {
    patch[key] = text;
    changes.push(changeOf(key, current, { text, variable }));
  };
  for (const [key, value] of Object.entries(wanted)) {
    const place = `settings.${key}`;
    const read = readText(value, variables);
    if (isStateKey(key)) problems.add(place, 'is written by the product and belongs in no file');
    else if (!read) problems.add(place, 'must be a string or {"$env": "<variable>"}');
    else if (isSecretKey(key) && read.variable === undefined)
      problems.add(place, 'is a secret, which does not belong in a file: write {"$env": "<variable>"}');
    else if (read.text === undefined) {
      if (isSet(key, current)) continue;
      missing.set(place, needsVariable(read.variable ?? ''));
      changes.push(changeOf(key, current, { text: undefined, variable: read.variable }));
    } else if (isDifferent(key, read.text, current)) change(key, read.text, read.variable);
  }
  for (const key of [...Object.keys(current.texts), ...current.unreadable])
    if (!Object.hasOwn(wanted, key)) change(key, '', undefined);
  check(patch, wanted, { collections, variables, problems });
  return { patch, changes, missing };
}

interface SettingsContext {
  /** The collections after the change. */
  readonly collections: readonly Collection[];
  readonly variables: Variables;
  readonly problems: Problems;
}

const isSet = (key: string, { texts, unreadable }: ChangedSettings): boolean =>
  Object.hasOwn(texts, key) || unreadable.has(key);

function isDifferent(key: string, text: string, { texts, unreadable }: ChangedSettings): boolean {
  const effective = text === '' ? defaultTextOf(key) : text;
  return unreadable.has(key) || (texts[key] ?? defaultTextOf(key)) !== effective;
}

function changeOf(key: string, { texts, unreadable }: ChangedSettings, { text, variable }: ReadText): Change {
  const isSecret = isSecretKey(key);
  const hadValue = Object.hasOwn(texts, key) || unreadable.has(key);
  const before = isSecret ? (hadValue ? secretText : null) : (texts[key] ?? defaultTextOf(key));
  const shown = isSecret || text === undefined ? { $env: variable } : text;
  const after = text === '' ? (isSecret ? null : defaultTextOf(key)) : shown;
  return { action: 'change', kind: 'setting', name: key, changed: [{ member: 'value', before, after }] };
}

/** Replaces a secret in changes. */
const secretText = '(secret)';

/** Checks the changed values, and the keys for collections that stay. */
function check(
  patch: SettingsPatch,
  wanted: Readonly<Record<string, unknown>>,
  { collections, variables, problems }: SettingsContext,
): void {
  const given = Object.fromEntries(
    Object.entries(wanted).flatMap(([key, value]) => {
      const text = readText(value, variables)?.text;
      return text === undefined ? [] : [[key, text]];
    }),
  );
  const read = settingsPatch.safeParse(given);
  if (!read.success)
    for (const [key, message] of Object.entries(describeIssues(read.error, given)))
      problems.add(`settings.${key}`, message);
  for (const refuse of [checkCollectionsOf, checkChannelsOf, checkTemplatesOf]) {
    try {
      if (read.success) refuse({ ...read.data, ...onlySet(patch) }, collections);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      for (const [key, message] of Object.entries(error.details ?? {}))
        problems.add(`settings.${key}`, String(message));
    }
  }
}

const onlySet = (patch: SettingsPatch): SettingsPatch =>
  Object.fromEntries(Object.entries(patch).filter(([, text]) => text !== ''));
