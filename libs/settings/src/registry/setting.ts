import type { z } from 'zod';

/** The services that read settings of a group. */
type ServiceName = 'gateway' | 'auth' | 'records' | 'webhooks' | 'admin';

/** One setting: what it means, how its text becomes a value, and what counts while nothing valid is stored. */
export interface Setting<T> {
  readonly about: string;
  /** From a text that is not empty to the value; what it refuses can't be stored. */
  readonly schema: z.ZodType<T, string>;
  readonly defaultText: string;
  readonly defaultValue: T;
}

/** The settings of one subject, by key. */
interface SettingGroup<S extends Readonly<Record<string, Setting<unknown>>>> {
  readonly title: string;
  readonly readBy: readonly ServiceName[];
  readonly settings: S;
}

/** Declares a group of settings. */
export const settingGroup = <S extends Readonly<Record<string, Setting<unknown>>>>(
  title: string,
  readBy: readonly ServiceName[],
  settings: S,
): SettingGroup<S> => ({ title, readBy, settings });

/** Declares a setting that always has a value. Throws when its default does not obey its own schema. */
export const setting = <T>(schema: z.ZodType<T, string>, defaultText: string, about: string): Setting<T> => ({
  about,
  schema,
  defaultText,
  defaultValue: schema.parse(defaultText),
});

/** Declares a setting that may be unset; `unsetValue` is what counts then. */
export const unsetSetting = <T, U>(schema: z.ZodType<T, string>, unsetValue: U, about: string): Setting<T | U> => ({
  about,
  schema,
  defaultText: '',
  defaultValue: unsetValue,
});

/** The endings that make a key's value a secret (interface §2.7, at-rest encryption). */
const secretEnding =
  /\.(password|pass|api_key|apikey|secret|client_secret|private_key|privatekey|access_key|accesskey|service_account|token)$/i;

/** Is the value of this key sealed before it is stored? */
export const isSecretKey = (key: string): boolean => secretEnding.test(key);
