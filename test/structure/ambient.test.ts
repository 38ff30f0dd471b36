import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ambient, runEverywhere } from './rules.js';
import { sources, walk } from './sources.js';

const portable = sources.filter(({ packageName, isTest }) => !isTest && runEverywhere.includes(packageName));

describe('sources that run everywhere', () => {
  it.each(Object.entries(ambient))('take %s from its one place', (name, places) => {
    const wrong: string[] = [];
    for (const { path, tree } of portable) {
      if (places.includes(path)) continue;
      walk(tree, (node) => {
        if (ts.isPropertyAccessExpression(node) && node.getText(tree).replace('globalThis.', '') === name)
          wrong.push(path);
      });
    }
    expect(wrong).toEqual([]);
  });

  it('take the present time from the clock only', () => {
    const wrong: string[] = [];
    for (const { path, tree } of portable) {
      walk(tree, (node) => {
        const isDate = ts.isNewExpression(node) && node.expression.getText(tree) === 'Date';
        if (isDate && (node.arguments?.length ?? 0) === 0) wrong.push(path);
      });
    }
    expect(wrong).toEqual([]);
  });

  it('neither evaluate text nor make functions of it', () => {
    const wrong: string[] = [];
    for (const { path, tree } of portable) {
      walk(tree, (node) => {
        if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return;
        const callee = node.expression.getText(tree).replace('globalThis.', '');
        if (callee === 'eval' || callee === 'Function') wrong.push(`${path}: ${callee}`);
      });
    }
    expect(wrong).toEqual([]);
  });
});
