// What the page takes of three.js; everything else is shaken off.
export {
  BufferGeometry, CatmullRomCurve3, CylinderGeometry, DirectionalLight, ExtrudeGeometry, Float32BufferAttribute, Group,
  HemisphereLight, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshPhongMaterial, PCFShadowMap, PerspectiveCamera,
  PlaneGeometry, Quaternion, Scene, ShadowMaterial, Shape, SphereGeometry, TubeGeometry, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
