#include "analysis/realisation.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "analysis/linear_subsystem.hpp"
#include "coupling/eigenvalues.hpp"

namespace mdpcosim {

namespace {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double least_singular = 1e-9;  // of the largest singular value: what double precision leaves
constexpr double above_noise = 20;       // singular values below so many times the middle of the smaller half are noise
constexpr double fastest_forgetting = 1e-3;  // within dt; what is faster cannot be told from it

/// Rows and columns divided by these have entries of about one.
struct scales {
    VectorXd outputs, inputs;
};

scales scales_of(std::span<const MatrixXd> h) {
    scales s{VectorXd::Zero(h[0].rows()), VectorXd::Zero(h[0].cols())};
    for (const MatrixXd& one : h.subspan(1))
        s.inputs = s.inputs.cwiseMax(one.cwiseAbs().colwise().maxCoeff().transpose());
    for (double& v : s.inputs) v = v > 0 ? v : 1;
    for (const MatrixXd& one : h.subspan(1))
        s.outputs = s.outputs.cwiseMax((one * s.inputs.cwiseInverse().asDiagonal()).cwiseAbs().rowwise().maxCoeff());
    for (double& v : s.outputs) v = v > 0 ? v : 1;
    return s;
}

MatrixXd hankel(const std::vector<MatrixXd>& h, Index rows, Index columns, std::size_t first) {
    const Index p = h[0].rows(), m = h[0].cols();
    MatrixXd H(rows * p, columns * m);
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) H.block(i * p, j * m, p, m) = h[first + static_cast<std::size_t>(i + j)];
    return H;
}

Index order_of(const VectorXd& singular) {
    const Index n = singular.size();
    const double noise = singular[n / 2 + n / 4];
    Index order = 0;
    while (order < n / 2 && singular[order] > std::max(least_singular * singular[0], above_noise * noise)) ++order;
    return order;
}

/// ln z with z as a step of dt can have it.
std::complex<double> exponent(std::complex<double> z, int count, bool& unstable) {
    const double size = std::abs(z);
    if (size < fastest_forgetting || (z.imag() == 0 && z.real() < 0)) z = std::clamp(size, fastest_forgetting, 0.999);
    if (size > 1) {
        if (std::pow(size, count) > 1.1)
            unstable = true;
        else
            z /= size;
    }
    if (std::abs(z - 1.0) < 1e-9) return 0;
    return std::log(z);
}

/// The continuous system whose steps of dt these are, by its modes: real ones for real poles, blocks of two for pairs.
void make_continuous(const MatrixXd& Ad, const MatrixXd& Bd, const MatrixXd& Cd, double dt, int count,
                     realisation& into) {
    const Index n = Ad.rows();
    const Eigen::EigenSolver<MatrixXd> modes(Ad);
    const MatrixXcd V = modes.eigenvectors(), Bm = V.fullPivLu().solve(MatrixXcd(Bd.cast<std::complex<double>>())),
                    Cm = Cd.cast<std::complex<double>>() * V;
    into.A = MatrixXd::Zero(n, n);
    into.B = MatrixXd::Zero(n, Bd.cols());
    into.C = MatrixXd::Zero(Cd.rows(), n);
    for (Index i = 0; i < n; ++i) {
        const std::complex<double> z = modes.eigenvalues()[i], e = exponent(z, count, into.unstable);
        // A step held over dt adds (e^{s dt} - 1)/s b.
        const std::complex<double> held = std::abs(e) < 1e-7 ? dt : (std::exp(e) - 1.0) / e * dt, s = e / dt;
        // Residues keep what the pole answers to a step after the first dt.
        const Eigen::RowVectorXcd b = Bm.row(i) / held;
        if (z.imag() == 0) {
            into.A(i, i) = s.real();
            into.B.row(i) = b.real();
            into.C.col(i) = Cm.col(i).real();
            continue;
        }
        into.A.block(i, i, 2, 2) << s.real(), -s.imag(), s.imag(), s.real();
        into.B.row(i) = b.real();
        into.B.row(i + 1) = b.imag();
        into.C.col(i) = 2 * Cm.col(i).real();
        into.C.col(i + 1) = -2 * Cm.col(i).imag();
        ++i;
    }
}

}  // namespace

realisation realise(std::span<const MatrixXd> answers, double dt) {
    std::vector<MatrixXd> h(answers.begin(), answers.end());
    for (std::size_t k = h.size() - 1; k > 0; --k) h[k] -= h[k - 1];
    realisation found;
    found.D = answers[0];
    const scales scale = scales_of(h);
    for (std::size_t k = 1; k < h.size(); ++k)
        h[k] = scale.outputs.cwiseInverse().asDiagonal() * h[k] * scale.inputs.cwiseInverse().asDiagonal();
    const Index count = static_cast<Index>(h.size()) - 1, rows = count / 2, columns = count - rows;
    const Index p = h[0].rows(), m = h[0].cols();
    const MatrixXd H0 = hankel(h, rows, columns, 1);
    const Eigen::BDCSVD<MatrixXd> svd(H0, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const VectorXd& singular = svd.singularValues();
    const Index n = singular[0] > 0 ? order_of(singular) : 0;
    if (n == 0) {
        found.A = MatrixXd(0, 0);
        found.B = MatrixXd(0, m);
        found.C = MatrixXd(p, 0);
        return found;
    }
    const VectorXd root = singular.head(n).cwiseSqrt();
    const MatrixXd U = svd.matrixU().leftCols(n) * root.asDiagonal(), V = svd.matrixV().leftCols(n) * root.asDiagonal();
    // A from the observability matrix, which is its own shift: U A = U moved by one block.
    const MatrixXd Ad = U.topRows((rows - 1) * p).colPivHouseholderQr().solve(U.bottomRows((rows - 1) * p));
    make_continuous(Ad, V.topRows(m).transpose(), U.topRows(p), dt, static_cast<int>(count), found);
    found.B = found.B * scale.inputs.asDiagonal();
    found.C = scale.outputs.asDiagonal() * found.C;
    return found;
}

std::vector<MatrixXd> step_answers(const realisation& r, double dt, int count) {
    const Index n = r.A.rows(), m = r.D.cols();
    MatrixXd M = MatrixXd::Zero(n + m, n + m);
    M.topLeftCorner(n, n) = r.A;
    M.topRightCorner(n, m) = r.B;
    const MatrixXd step = n > 0 ? matrix_exponential(M * dt) : MatrixXd::Identity(m, m);
    MatrixXd x = MatrixXd::Zero(n, m);
    std::vector<MatrixXd> answers{r.D};
    for (int k = 1; k <= count; ++k) {
        x = step.topLeftCorner(n, n) * x + step.topRightCorner(n, m);
        answers.push_back(r.C * x + r.D);
    }
    return answers;
}

}  // namespace mdpcosim
