import type { z } from 'zod';

/** A service that reads a group's settings. */
type ServiceName = 'gateway' | 'auth' | 'records' | 'webhooks' | 'admin' | 'realtime';

/** A setting: its description, how its text is converted, and its default while nothing valid is stored. */
export interface Setting<T> {
  readonly about: string;
  /** Converts a non-empty text to the value. A refused text is not stored. */
  readonly schema: z.ZodType<T, string>;
  readonly defaultText: string;
  readonly defaultValue: T;
  /** Whether the product writes it. Then it describes the stack, and cannot be in a schema file (schema §2.3). */
  readonly isState?: true;
}

/** One subject's settings, by key. */
export interface SettingGroup<S extends Readonly<Record<string, Setting<unknown>>>> {
  readonly title: string;
  readonly readBy: readonly ServiceName[];
  readonly settings: S;
  /** Settings with one value for each name, by their key with a placeholder. */
  readonly families: Readonly<Record<string, Setting<unknown>>>;
}

/** Declares a settings group. */
export const settingGroup = <S extends Readonly<Record<string, Setting<unknown>>>>(
  title: string,
  readBy: readonly ServiceName[],
  settings: S,
  families: Readonly<Record<string, Setting<unknown>>> = {},
): SettingGroup<S> => ({ title, readBy, settings, families });

/** Declares a setting that always has a value. Throws when its schema refuses the default. */
export const setting = <T>(schema: z.ZodType<T, string>, defaultText: string, about: string): Setting<T> => ({
  about,
  schema,
  defaultText,
  defaultValue: schema.parse(defaultText),
});

/** Declares a setting that may be unset. `unsetValue` is its value then. */
export const unsetSetting = <T, U>(schema: z.ZodType<T, string>, unsetValue: U, about: string): Setting<T | U> => ({
  about,
  schema,
  defaultText: '',
  defaultValue: unsetValue,
});

/** Marks a setting that the product writes. */
export const stateOf = <T>(declared: Setting<T>): Setting<T> => ({ ...declared, isState: true });

/** The endings that make a key's value a secret (settings §4.1). */
const secretEnding =
  /\.(password|pass|api_key|apikey|secret|client_secret|private_key|privatekey|access_key|accesskey|service_account|token)$/i;

/** Whether a key, or a family's key, has one of these endings. */
export const isSecretEnding = (key: string): boolean => secretEnding.test(key);
