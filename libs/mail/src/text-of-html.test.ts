import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOfHtml } from './text-of-html.ts';

const examples: readonly (readonly [html: string, text: string])[] = [
  ['<p>Hello <b>you</b>,</p>\n\n<p>welcome.<br>Bye</p>', 'Hello you,\nwelcome.\nBye'],
  ['<a href="{{link}}">Confirm</a>', 'Confirm ({{link}})'],
  ["<A class=x HREF='{{link}}'>\n {{link}} </A>", '{{link}}'],
  ['<a href="https://x.example/?a=1&amp;b=2">x</a>', 'x (https://x.example/?a=1&b=2)'],
  ['<head><title>t</title><style>p > b { }</style></head><!doctype html><!-- <p>no</p> -->yes', 'yes'],
  ['1 &lt; 2 &amp;&nbsp;3 &copy;', '1 < 2 & 3 &copy;'],
  ['a < b', 'a < b'],
  ['open <!-- for ever', 'open'],
  ['<a href="x">never closed', 'never closed'],
  ['</a></p>', ''],
];

for (const [html, text] of examples) test(JSON.stringify(html), () => assert.equal(textOfHtml(html), text));

test('HTML that is broken in many places is read in one pass', () => {
  // A reader that backtracks takes many seconds for each.
  const parts = ['<style', '<a ', '<a href="', '<a href="x">', '<!--', '<', '\n \n', ' ', '</p', '<p>', '&amp'];
  for (const part of parts) assert.equal(typeof textOfHtml(part.repeat(Math.floor(100_000 / part.length))), 'string');
});
