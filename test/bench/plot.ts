/** Lines in one coordinate system; both axes are logarithmic. */
export interface Panel {
  readonly title: string;
  readonly lines: ReadonlyMap<string, readonly (readonly [x: number, y: number])[]>;
}

const WIDTH = 520;
const HEIGHT = 300;
const LEFT = 60;
const LEGEND = 250;
const TOP = 40;
const COLORS = ['#1f77b4', '#d62728', '#2ca02c', '#9467bd', '#ff7f0e', '#8c564b', '#e377c2', '#17becf', '#7f7f7f'];

/** Draws panels below each other as SVG, all with the same vertical axis. */
export function plot(panels: readonly Panel[], title: string): string {
  const points = panels.flatMap(({ lines }) => [...lines.values()].flat());
  const low = Math.floor(Math.log10(Math.min(...points.map(([, y]) => y))));
  const high = Math.ceil(Math.log10(Math.max(...points.map(([, y]) => y))));
  const rows = panels.map((panel, index) => draw(panel, low, high, TOP + index * (HEIGHT + 60)));
  const width = LEFT + WIDTH + LEGEND;
  const height = TOP + panels.length * (HEIGHT + 60);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${LEFT}" y="20" font-size="15">${escaped(title)}</text>`,
    ...rows,
    '</svg>\n',
  ].join('\n');
}

function draw({ title, lines }: Panel, low: number, high: number, top: number): string {
  const xs = [...lines.values()].flat().map(([x]) => Math.log10(x));
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const across = (x: number): number => LEFT + ((Math.log10(x) - first) / (last - first)) * WIDTH;
  const down = (y: number): number => top + HEIGHT - ((Math.log10(y) - low) / (high - low)) * HEIGHT;
  const parts: string[] = [];
  for (let power = low; power <= high; power++) {
    const y = round(down(10 ** power));
    parts.push(`<path d="M${LEFT} ${y}h${WIDTH}" stroke="#ddd"/>`);
    parts.push(`<text x="${LEFT - 6}" y="${y + 4}" text-anchor="end">${10 ** power}</text>`);
  }
  for (const x of new Set([...lines.values()].flat().map(([x]) => x))) {
    parts.push(`<text x="${round(across(x))}" y="${top + HEIGHT + 16}" text-anchor="middle">${short(x)}</text>`);
  }
  parts.push(`<text x="${LEFT + WIDTH / 2}" y="${top + HEIGHT + 34}" text-anchor="middle">${escaped(title)}</text>`);
  [...lines].forEach(([name, points], index) => {
    const color = COLORS[index % COLORS.length];
    const at = points.map(([x, y]) => `${round(across(x))} ${round(down(y))}`).join('L');
    parts.push(`<path d="M${at}" fill="none" stroke="${color}" stroke-width="2"/>`);
    parts.push(`<text x="${LEFT + WIDTH + 12}" y="${top + 14 + index * 18}" fill="${color}">${escaped(name)}</text>`);
  });
  return parts.join('\n');
}

const round = (value: number): number => Math.round(value * 10) / 10;

function short(value: number): string {
  if (value >= 1_000_000) return `${Math.round(value / 1_000_000)}M`;
  return value >= 1_000 ? `${Math.round(value / 1_000)}k` : String(value);
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
