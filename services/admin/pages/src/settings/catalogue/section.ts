/** A time's unit in the stored text. */
export type TimeUnit = 'ms' | 's' | 'd';

/** A setting's control. Without one, its values decide: a secret, a switch or a line of text. */
export type Control =
  | { readonly kind: 'choice'; readonly choices: Readonly<Record<string, string>> }
  | { readonly kind: 'number'; readonly unit?: string }
  /** `min` and `max` only where the server does not refuse what is outside. */
  | { readonly kind: 'time'; readonly unit: TimeUnit; readonly min?: number; readonly max?: number }
  | { readonly kind: 'size' }
  | { readonly kind: 'lines'; readonly separator: ',' | ' '; readonly example: string }
  | { readonly kind: 'long' | 'colour' | 'rates' | 'channels' };

/** What the pages say about a setting. */
export interface SettingText {
  /** The key, or a family's key, such as `auth.sign_up.<collection>` and `email.verify.body.<lang>`. */
  readonly key: string;
  /** The placeholder in the key stands for the collection's name, or the language. */
  readonly label: string;
  readonly about: string;
  readonly control?: Control;
}

/** Settings that belong together. */
export interface Part {
  /** Parts with a title can be folded. */
  readonly title?: string;
  readonly about?: string;
  readonly settings: readonly SettingText[];
}

/** One page: the settings for one task. */
export interface Section {
  readonly name: string;
  readonly about: string;
  readonly parts: readonly Part[];
}

export const item = (key: string, label: string, about: string, control?: Control): SettingText => ({
  key,
  label,
  about,
  ...(control && { control }),
});

export const choice = (choices: Readonly<Record<string, string>>): Control => ({ kind: 'choice', choices });
export const number = (unit?: string): Control => ({ kind: 'number', ...(unit && { unit }) });
export const time = (unit: TimeUnit): Control => ({ kind: 'time', unit });
export const lines = (example: string, separator: ',' | ' ' = ','): Control => ({ kind: 'lines', separator, example });
