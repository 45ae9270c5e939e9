import type { Part } from '../multipart.ts';
import { isObject } from './client-call.ts';

type Values = Record<string, unknown>;

/** File names that a form need not escape. */
const plainName = /^[\w. -]+$/;

/**
 * The values that make the client send a form's parts: the texts and `_json` as values, each file as a `File`. For a
 * batch, the operations with their files. Undefined for a form that the client cannot send, such as a malformed one.
 */
export function formValues(parts: readonly Part[]): Values | undefined {
  const texts = parts.filter(({ filename }) => filename === undefined);
  const files = parts.filter(({ filename }) => filename !== undefined);
  // The client puts texts before files.
  if (files.length === 0 || texts.some((part, index) => part !== parts[index])) return undefined;
  if (files.some(({ filename = '' }) => !plainName.test(filename))) return undefined;
  const [first] = texts;
  return first?.name === 'operations' ? batchOf(first, texts.length, files) : recordOf(texts, files);
}

function recordOf(texts: readonly Part[], files: readonly Part[]): Values | undefined {
  const values: Values = {};
  for (const { name, content } of texts) {
    const json = parse(content);
    const isMembers = name === '_json';
    if (isMembers ? !isObject(json) : json !== undefined || content === '') return undefined;
    const members = isMembers ? Object(json) : { [name]: content };
    if (Object.keys(members).some((member) => member in values)) return undefined;
    Object.assign(values, members);
  }
  return files.every((part) => addFile(values, part.name, part)) ? values : undefined;
}

function batchOf({ content }: Part, texts: number, files: readonly Part[]): Values | undefined {
  const operations = parse(content);
  if (texts > 1 || !Array.isArray(operations) || !operations.every(isObject)) return undefined;
  const filled: Values[] = operations.map((operation) => ({
    ...operation,
    ...(isObject(operation.data) && { data: { ...operation.data } }),
  }));
  for (const part of files) {
    const [, index = '', field = ''] = /^(\d{1,4})\.(\w+)$/.exec(part.name) ?? [];
    const data = filled[Number(index || -1)]?.data;
    if (!isObject(data) || !addFile(data as Values, field, part)) return undefined;
  }
  return { operations: filled };
}

/** Adds a file to a field. The existing names are the stored files to keep. */
function addFile(values: Values, field: string, { filename = '', type = '', content }: Part): boolean {
  const file = new File([typeof content === 'string' ? content : Buffer.from(content)], filename, { type });
  const before = values[field];
  if (Array.isArray(before)) before.push(file);
  else if (before === undefined) values[field] = file;
  else if (before instanceof Blob) values[field] = [before, file];
  else return false;
  return true;
}

/** Parses a text as JSON; undefined for any other text, which forms and JSON write alike. */
function parse(content: Part['content']): unknown {
  try {
    return JSON.parse(String(content));
  } catch {
    return undefined;
  }
}
