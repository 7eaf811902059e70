#!/bin/sh
# Makes the files beside this script again: three.js and uPlot as minified scripts, fonts cut to the letters that pages use.
# Needs node with npm, python3 and the network; the package itself needs none of these, the files are part of it.
#     reports/page/vendor/make.sh            writes the files and SHA256SUMS
#     cd reports/page/vendor && sha256sum -c SHA256SUMS
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/package.json" "$here/three.entry.js" "$work"
cd "$work"
npm install --no-audit --no-fund --no-package-lock --silent
python3 -m venv fonts
fonts/bin/pip install -q fonttools==4.60.1 brotli==1.1.0

npx esbuild three.entry.js --bundle --minify --format=iife --global-name=THREE --legal-comments=inline \
    --target=es2020 --outfile="$here/three.min.js"
cp node_modules/uplot/dist/uPlot.iife.min.js "$here/uplot.min.js"
cp node_modules/uplot/dist/uPlot.min.css "$here/uplot.min.css"
cp node_modules/three/LICENSE "$here/LICENSE.three"
cp node_modules/uplot/LICENSE "$here/LICENSE.uplot"
cp node_modules/inter-ui/LICENSE.txt "$here/LICENSE.inter"
cp node_modules/@fontsource/libertinus-serif/LICENSE "$here/LICENSE.libertinus"

# Latin with accents, Greek, combining dots, raised and lowered figures, arrows, signs of mathematics.
letters=U+0020-017F,U+0300-030C,U+0370-03FF,U+1E00-1EFF,U+2010-2027,U+2030-203A,U+2070-209F,U+20DB,U+2122,U+2190-2199
letters=$letters,U+2200-22FF,U+25B2-25CF,U+2713,U+2717
fonts/bin/fonttools varLib.instancer -q --no-recalc-timestamp -o inter.ttf node_modules/inter-ui/variable/InterVariable.woff2 opsz=14 wght=400:650
fonts/bin/pyftsubset inter.ttf --unicodes="$letters" --layout-features=kern,calt,ccmp,mark,mkmk,tnum,locl \
    --flavor=woff2 --output-file="$here/inter.woff2"
cp node_modules/@fontsource/libertinus-serif/files/libertinus-serif-latin-400-normal.woff2 "$here/libertinus.woff2"
cd "$here"
sha256sum LICENSE.* three.min.js uplot.min.js uplot.min.css inter.woff2 libertinus.woff2 > SHA256SUMS
ls -l three.min.js uplot.min.js uplot.min.css inter.woff2 libertinus.woff2
