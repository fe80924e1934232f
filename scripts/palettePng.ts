/**
 * Makes a screenshot small: at most 256 colours, the most frequent ones, the others drawn by the
 * nearest of them. A page has a few plain colours and the shades of its text, so nobody sees the
 * difference, and the file is a third.
 */
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const PALETTE_COLOURS = 256;

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Three bytes a pixel. */
  readonly rgb: Uint8Array;
}

/**
 * @param png 8 bits, true colour without alpha, not interlaced, as Chromium writes pages
 * @throws RangeError for any other
 */
export function palettePng(png: Buffer): Buffer {
  const { width, height, rgb } = decode(png);
  const counts = new Map<number, number>();
  const colourAt = (i: number) => (rgb[3 * i]! << 16) | (rgb[3 * i + 1]! << 8) | rgb[3 * i + 2]!;
  for (let i = 0; i < width * height; i++) {
    const colour = colourAt(i);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts.keys()]
    .sort((a, b) => counts.get(b)! - counts.get(a)! || a - b)
    .slice(0, PALETTE_COLOURS);
  const indexes = new Map([...counts.keys()].map((colour) => [colour, nearest(palette, colour)]));
  const rows = Buffer.alloc((width + 1) * height); // each row begins with its filter: none
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) rows[y * (width + 1) + 1 + x] = indexes.get(colourAt(i))!;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap((colour) => bytesOf(colour)))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const bytesOf = (colour: number) => [colour >> 16, (colour >> 8) & 255, colour & 255] as const;

function nearest(palette: readonly number[], colour: number): number {
  const [r, g, b] = bytesOf(colour);
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [i, candidate] of palette.entries()) {
    const [R, G, B] = bytesOf(candidate);
    const distance = (r - R) ** 2 + (g - G) ** 2 + (b - B) ** 2;
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function decode(png: Buffer): Pixels {
  const parts: Buffer[] = [];
  let head = Buffer.alloc(13);
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') head = data as Buffer<ArrayBuffer>;
    if (type === 'IDAT') parts.push(data);
    at += 12 + length;
  }
  const width = head.readUInt32BE(0);
  const height = head.readUInt32BE(4);
  const [depth, colours, , , interlaced] = head.subarray(8);
  if (depth !== 8 || colours !== 2 || interlaced !== 0) throw new RangeError('not such a PNG');
  return { width, height, rgb: unfilter(inflateSync(Buffer.concat(parts)), 3 * width, height) };
}

/** PNG (W3C, third edition), section 9.2; `stride` bytes a row, three a pixel. */
function unfilter(raw: Buffer, stride: number, height: number): Uint8Array {
  const out = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const a = x >= 3 ? out[at - 3]! : 0;
      const b = y > 0 ? out[at - stride]! : 0;
      const c = x >= 3 && y > 0 ? out[at - stride - 3]! : 0;
      const guess = [0, a, b, (a + b) >> 1, paeth(a, b, c)][filter!]!;
      out[at] = raw[y * (stride + 1) + 1 + x]! + guess;
    }
  }
  return out;
}

function paeth(a: number, b: number, c: number): number {
  const p = a + b - c;
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}
