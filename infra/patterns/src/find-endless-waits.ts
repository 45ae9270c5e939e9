import type { Node } from 'acorn';
import { isNode, lineOf, nameOf, visit, visitSource } from './source-tree.ts';

/**
 * Finds the lines in a test at which a loop waits for something that may never come: it neither counts, nor ends with a
 * flag or a deadline, nor throws. The test would run until its time limit, and hide why it waits.
 */
export function findEndlessWaits(path: string): readonly number[] {
  const lines: number[] = [];
  visitSource(
    path,
    (node) => {
      if (!/^(DoW|W)hileStatement$/.test(node.type)) return;
      const [condition, body] = [Reflect.get(node, 'test'), Reflect.get(node, 'body')];
      const waits = body.type === 'EmptyStatement' || has(node, ({ type }) => type === 'AwaitExpression');
      if (waits && !mayEnd(condition, body) && !has(body, throws)) lines.push(lineOf(node));
    },
    /while/,
  );
  return lines;
}

/** Whether a condition ends the loop in any case: with a flag, a deadline or a count. Any operand of `&&` may do so. */
function mayEnd(condition: unknown, body: Node): boolean {
  if (!isNode(condition)) return false;
  const [left, right] = [Reflect.get(condition, 'left'), Reflect.get(condition, 'right')];
  if (condition.type === 'LogicalExpression') {
    const [one, other] = [mayEnd(left, body), mayEnd(right, body)];
    return Reflect.get(condition, 'operator') === '&&' ? one || other : one && other;
  }
  return isFlag(condition) || has(condition, readsClock) || (isNode(left) && isChanged(countedIn(left), body));
}

/** Whether an expression is a name, the call of one, or a signal's `aborted`, negated or not. */
function isFlag(node: Node): boolean {
  if (node.type === 'UnaryExpression') return isFlag(Reflect.get(node, 'argument'));
  if (node.type === 'CallExpression')
    return Reflect.get(node, 'arguments').length === 0 && nameOf(Reflect.get(node, 'callee')) !== undefined;
  return nameOf(node) !== undefined || nameOf(Reflect.get(node, 'property')) === 'aborted';
}

/** Returns the name of what a comparison counts: `left`, or the list in `list.length`. */
const countedIn = (node: Node): string | undefined => nameOf(node) ?? nameOf(Reflect.get(node, 'object'));

/** Whether each turn counts, or adds to the list. */
const isChanged = (name: string | undefined, body: Node): boolean =>
  name !== undefined &&
  has(body, (node) => {
    if (node.type === 'UpdateExpression') return nameOf(Reflect.get(node, 'argument')) === name;
    if (node.type === 'AssignmentExpression') return nameOf(Reflect.get(node, 'left')) === name;
    const callee: unknown = Reflect.get(node, 'callee');
    return (
      node.type === 'CallExpression' &&
      isNode(callee) &&
      nameOf(Reflect.get(callee, 'object')) === name &&
      nameOf(Reflect.get(callee, 'property')) === 'push'
    );
  });

const readsClock = (node: Node): boolean =>
  node.type === 'MemberExpression' &&
  nameOf(Reflect.get(node, 'property')) === 'now' &&
  /^(performance|Date)$/.test(nameOf(Reflect.get(node, 'object')) ?? '');

/** Whether a node throws, or asserts something about the wait. */
const throws = (node: Node): boolean =>
  node.type === 'ThrowStatement' ||
  (node.type === 'MemberExpression' && nameOf(Reflect.get(node, 'object')) === 'assert');

function has(within: unknown, is: (node: Node) => boolean): boolean {
  let found = false;
  visit(within, (node) => {
    found ||= is(node);
  });
  return found;
}
