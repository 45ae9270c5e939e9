import { describeIssues, unknownMember } from '@recordbus/errors/describe-issues';
import { isObject } from '@recordbus/text/json';
import { z } from 'zod';
import type { Collection, CollectionType } from '../collection.ts';
import type { Field } from '../field.ts';
import { findDefaultProblem } from '../field-default.ts';
import type { FieldType } from '../field-type.ts';
import { fieldTypeOf, fieldTypes } from '../fields/index.ts';
import { fieldIdPattern, newFieldId } from './field-id.ts';
import { findFieldNameProblem } from './field-name.ts';
import type { Problems } from './problems.ts';

/** What a collection's field definitions are checked against. */
export interface DefinitionContext {
  readonly collectionType: CollectionType;
  /** The current fields, when the collection exists. */
  readonly previous?: readonly Field[];
  /** Finds the collection that a relation names, which may be the one being defined. */
  findCollection(name: string): Pick<Collection, 'name' | 'type'> | undefined;
}

/** What one definition in a list is checked against. */
export interface ListContext extends DefinitionContext {
  /** The previous fields that no definition names by their ids. */
  readonly unnamed: readonly Field[];
}

/** Returns an own member of a value that was not checked yet. */
export const memberOf = (item: unknown, key: string): unknown =>
  isObject(item) ? Object.getOwnPropertyDescriptor(item, key)?.value : undefined;

const flag = z.boolean('must be true or false');

/** Checks only the type. The caller checks the expression. */
const rule = z.string('must be null or a string').nullish();

/** A definition's outer shape (fields §1.1). */
const shape = z.strictObject({
  id: z
    .string('must be a string')
    .regex(fieldIdPattern, 'must have 1 to 24 letters, digits, underscores and hyphens')
    .nullish(),
  name: z.string('must be a string'),
  type: z.string('must be a string'),
  required: flag.default(false),
  options: z.custom<object>(isObject, 'must be an object').default({}),
  collection: z.string('must be a collection name').nullish(),
  view_rule: rule,
  write_rule: rule,
  onCreate: flag.optional(),
  onUpdate: flag.optional(),
  system: z.unknown().optional(),
});

type Definition = z.output<typeof shape>;

/**
 * Reads one definition, at a position in its list (see `readFieldDefinitions`). Undefined for one without a usable
 * shape.
 */
export function readDefinition(
  item: unknown,
  position: number,
  context: ListContext,
  problems: Problems,
): Field | undefined {
  const place = placeOf(item, position, context.collectionType);
  const read = shape.safeParse(item);
  if (!read.success) {
    for (const [path, message] of Object.entries(describeIssues(read.error, item))) {
      if (path === 'body') problems.add(place, 'must be an object');
      else
        problems.add(
          `${place}.${path}`,
          message === unknownMember && isOption(item, path) ? 'belongs in options' : message,
        );
    }
    return undefined;
  }
  const definition = read.data;
  const nameProblem = findFieldNameProblem(definition.name, context.collectionType);
  if (nameProblem) problems.add(`${place}.name`, nameProblem);
  const type = fieldTypes.get(definition.type);
  if (!type) {
    problems.add(`${place}.type`, `must be one of ${[...fieldTypes.keys()].join(', ')}`);
    return undefined;
  }
  const previous = findPrevious(definition, context);
  if (previous && previous.type !== type.name)
    problems.add(`${place}.type`, `cannot change from ${previous.type}: drop the field and add it again`);
  const collection = readTarget(definition, { type, previous, place, context, problems });
  const field = {
    id: definition.id ?? previous?.id ?? newFieldId(),
    name: definition.name,
    type: type.name,
    required: definition.required,
    system: previous?.system ?? false,
    ...(collection !== undefined && { collection }),
    ...readRules(definition, { type, place, problems }),
  };
  const options = readOptions(definition, type, place, problems);
  return {
    ...field,
    options: options ? withDefault({ ...field, options }, definition, { place, context, problems }) : {},
  };
}

/** A definition's place in problems: its name, or its position without a valid one. */
function placeOf(item: unknown, position: number, collectionType: CollectionType): string {
  const name = memberOf(item, 'name');
  const isUsable = typeof name === 'string' && !findFieldNameProblem(name, collectionType);
  return `fields.${isUsable ? name : position}`;
}

/** Whether the member is an option of the definition's type. In other products options are next to the name. */
function isOption(item: unknown, name: string): boolean {
  if (name === 'default') return true;
  const options = fieldTypes.get(String(memberOf(item, 'type')))?.options.safeParse({ [name]: memberOf(item, name) });
  return options !== undefined && !options.error?.issues.some(({ code }) => code === 'unrecognized_keys');
}

const findPrevious = ({ id, name }: Definition, { previous, unnamed }: ListContext): Field | undefined =>
  id == null ? unnamed.find((field) => field.name === name) : previous?.find((field) => field.id === id);

/** Reads the type's options; undefined when some are wrong. */
function readOptions(
  definition: Definition,
  type: FieldType,
  place: string,
  problems: Problems,
): Field['options'] | undefined {
  const { default: _, ...own }: Field['options'] = { ...definition.options };
  const read = type.options.safeParse({ ...own, ...readFlags(definition, type, place, problems) });
  if (read.success) return read.data;
  for (const [path, message] of Object.entries(describeIssues(read.error)))
    problems.add(`${place}.options.${path}`, message);
  return undefined;
}

/** Returns a field's options with its definition's default (fields §2.8). Null means no default. */
function withDefault(
  field: Field,
  definition: Definition,
  { place, context, problems }: Pick<TargetContext, 'place' | 'context' | 'problems'>,
): Field['options'] {
  const value = memberOf(definition.options, 'default');
  if (value == null || (value === '' && fieldTypeOf(field).emptyTextIsNull)) return field.options;
  const options = { ...field.options, default: value };
  const target = field.collection === undefined ? undefined : context.findCollection(field.collection);
  const problem = findDefaultProblem({ ...field, options }, context.collectionType, target);
  if (problem === undefined) return options;
  problems.add(`${place}.options.default`, problem);
  return field.options;
}

/** Returns a field's rules. One that is null is left out. */
function readRules(
  { view_rule: viewRule, write_rule: writeRule }: Definition,
  { type, place, problems }: Pick<TargetContext, 'type' | 'place' | 'problems'>,
): Pick<Field, 'viewRule' | 'writeRule'> {
  if (writeRule != null && type.isServerSet)
    problems.add(`${place}.write_rule`, `is not for ${type.name} fields, which only the server sets`);
  return { ...(viewRule != null && { viewRule }), ...(writeRule != null && { writeRule }) };
}

/** Returns the options outside `options` (fields §3.7). They take precedence over those in `options`. */
function readFlags({ onCreate, onUpdate }: Definition, type: FieldType, place: string, problems: Problems): object {
  const flags = Object.entries({ onCreate, onUpdate }).filter(([, value]) => value !== undefined);
  if (type.hasOuterOptions) return Object.fromEntries(flags);
  for (const [name] of flags) problems.add(`${place}.${name}`, `is not for ${type.name} fields`);
  return {};
}

interface TargetContext {
  readonly type: FieldType;
  readonly previous: Field | undefined;
  readonly place: string;
  readonly context: DefinitionContext;
  readonly problems: Problems;
}

/** Returns a relation's target name in that collection's case; undefined for other fields. */
function readTarget(
  { collection: name }: Definition,
  { type, previous, place, context, problems }: TargetContext,
): string | undefined {
  const refuse = (message: string) => {
    problems.add(`${place}.collection`, message);
    return undefined;
  };
  if (!type.refersToCollection) return name == null ? undefined : refuse(`is not for ${type.name} fields`);
  if (name == null) return refuse('is required');
  const target = context.findCollection(name);
  if (!target) return refuse(`there is no collection "${name}"`);
  if (target.type === 'view') return refuse(`"${name}" is a view and stores no records`);
  if (previous?.collection !== undefined && previous.collection !== target.name)
    return refuse(`cannot change from ${previous.collection}: drop the field and add it again`);
  return target.name;
}
