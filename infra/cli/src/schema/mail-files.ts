import type { FileProblems } from './file-problems.ts';
import type { Members } from './schema-target.ts';

/** The folder with the mails' texts in a schema directory (schema §7.1). */
export const mailFolder = 'mail';

/** A setting with a mail's text; a language may follow. */
const textKey = /^email\.[a-z_]{1,40}\.(?:subject|body)(?:\.[A-Za-z0-9-]{1,20})?$/;

/** Such a key without `email.`, and how the text is written. */
const textFile = /^([a-z_]{1,40}\.(?:subject|body)(?:\.[A-Za-z0-9-]{1,20})?)\.(?:txt|html)$/;

const anyTag = /<[a-z/!][^<>]*>/i;

/** Whether a file's name is one for a mail's text. */
export const isMailFile = (name: string): boolean => textFile.test(name);

/** A mail's text in a file. */
export interface MailText {
  /** The setting's key. */
  readonly key: string;
  /** The file's path. */
  readonly file: string;
  readonly text: string;
}

/** The settings for `settings.json`, and the files in `mail` by name. */
interface SplitSettings {
  readonly settings: Members;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Splits the mails' texts off. A text that the file `settings.json` has stays there. A text's file keeps its ending. A
 * subject is one line, so its file ends with a line break; another text is its file, byte for byte.
 */
export function splitSettings(
  settings: Members,
  written: { readonly settings: Members | undefined; readonly mail: readonly string[] },
): SplitSettings {
  const rest: Record<string, unknown> = {};
  const files = new Map<string, string>();
  for (const [key, value] of Object.entries(settings)) {
    const stays = written.settings !== undefined && Object.hasOwn(written.settings, key);
    if (stays || typeof value !== 'string' || !textKey.test(key)) {
      rest[key] = value;
      continue;
    }
    const name = key.slice('email.'.length);
    const usual = anyTag.test(value) ? 'html' : 'txt';
    const ending = ['txt', 'html'].find((one) => written.mail.includes(`${name}.${one}`)) ?? usual;
    files.set(`${name}.${ending}`, isSubject(key) ? `${value}\n` : value);
  }
  return { settings: rest, files };
}

const isSubject = (key: string): boolean => key.split('.')[2] === 'subject';

/** Reads a file's name and content; undefined for another file's name. */
export function readMailText(name: string, file: string, content: string): MailText | undefined {
  const [, found] = textFile.exec(name) ?? [];
  if (found === undefined) return undefined;
  const key = `email.${found}`;
  return { key, file, text: isSubject(key) ? content.replace(/\r?\n$/, '') : content };
}

/** Returns the settings with the mails' texts. Notes what has two texts, and texts without a file `settings.json`. */
export function joinSettings(
  settings: Members | undefined,
  texts: readonly MailText[],
  problems: FileProblems,
): Members | undefined {
  if (texts.length === 0) return settings;
  if (!settings) {
    for (const { file } of texts)
      problems.add(file, undefined, 'needs settings.json: without that file, all settings stay as they are');
    return undefined;
  }
  const joined: Record<string, unknown> = { ...settings };
  for (const { key, file, text } of texts) {
    if (Object.hasOwn(joined, key)) problems.add(file, undefined, `is the second text for ${key}`);
    joined[key] = text;
  }
  return joined;
}
